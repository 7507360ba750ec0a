package hostile_test

import "slices"

func Table() []Class {
	return slices.Concat(nameTable(), archiveTable(), treeTable(), addressTable(), answerTable(), fileTable())
}

func nameTable() []Class {
	return []Class{
		{"name/traversal", Refused, "a name must not lead out of the tree, not even for a part of its way"},
		{"name/absolute", Refused, "it begins outside of the tree"},
		{"name/backslash", Refused, "it is one name here and a path, or a drive, on Windows"},
		{"name/component", Refused, "it can be written in several ways, and programs differ in whether these are the same file"},
		{"name/line", Refused, "it forges a line in what h1 hashes, or cannot be stored anywhere"},
		{"name/long", Refused, "no file system holds it, or recursion on it takes too much"},
		{"name/vcs", Refused, "a tool that finds repository data runs hooks from it"},
		{"name/unportable", Unportable, "Windows or macOS cannot hold it"},
		{"name/disguised", Warned, "it is not what people see"},
		{"name/plain", Accepted, "it only looks odd"},
		{"clash", Unportable, "some file systems hold both names as one"},
		{"duplicate", Refused, "programs differ in which of the two they take"},

		// Links, in archives and git trees.
		{"link/absolute", LeftOut, "it points to files of this machine"},
		{"link/outside", LeftOut, "it points out of the package"},
		{"link/dangling", LeftOut, "it points to whatever is put there later"},
		{"link/loop", LeftOut, "whoever follows it does not come back"},
		{"link/unclean", LeftOut, "it can be understood in several ways"},
		{"link/hard", Refused, "it is to something else than an earlier file of the archive"},
		{"link/earlier", Accepted, "it is a copy of that file"},
		{"link/through", Refused, "what comes after the link would be written to where that leads"},
		{"link/chain", LeftOut, "it points out of the package by way of another one"},
		{"link/inside", Accepted, "it points to a file or directory of the package"},
	}
}

func archiveTable() []Class {
	return []Class{
		{"archive/good", Accepted, "nothing is wrong with it"},
		{"archive/permissions", Accepted, "only the owner's execute bit counts"},
		{"archive/empty", Refused, "a package without files is a mistake, and has the same hash as every other one"},
		{"archive/none", Refused, "it is no archive of a known kind"},
		{"bomb", Refused, "it is over a limit"},
		{"zip/local", Refused, "the local header does not agree with the directory, and programs go by either"},
		{"zip/directory", Refused, "the directory does not agree with the local header, or leads elsewhere"},
		{"zip/content", Refused, "the content does not have its checksum"},
		{"zip/end", Refused, "the end does not agree with the directory"},
		{"zip/ends", Refused, "the archive can be read as another one, or in part"},
		{"zip/ignored", Accepted, "the field means nothing here"},
		{"zip/method", Refused, "few programs know the method"},
		{"zip/flag", Refused, "the flag changes what the other fields mean"},
		{"zip/mode", Refused, "it is neither a file nor a directory nor a link, or both"},
		{"zip/extra", Refused, "the field gives a second name or size, or is malformed"},
		{"tar/type", Refused, "it is neither a file nor a directory nor a link"},
		{"tar/size", Refused, "the size is impossible, or programs differ in whether it counts"},
		{"tar/prefix", Refused, "the prefix makes it a name that is refused"},
		{"tar/checksum", Refused, "the header is damaged"},
		{"tar/extension", Refused, "it gives a second name, size or content, or is too much"},
		{"gzip/members", Refused, "there is more than one file, or less, in it"},
	}
}

func treeTable() []Class {
	return []Class{
		{"tree/name", Refused, "it is no name of a single entry, or none that a tree may have"},
		{"tree/vcs", Refused, "a tool that finds repository data runs hooks from it"},
		{"tree/mode", Refused, "it is neither a file nor a directory nor a link"},
		{"tree/malformed", Refused, "the object is not what its parent says, or no tree"},
		{"tree/duplicate", Refused, "programs differ in which of the two they take"},
		{"tree/size", Refused, "it is over a limit"},
		{"tree/empty", Refused, "a package without files is a mistake"},
		{"tree/unportable", Unportable, "Windows or macOS cannot hold it"},
		{"tree/disguised", Warned, "it is not what people see"},
		{"tree/plain", Accepted, "it only looks odd"},
	}
}

func addressTable() []Class {
	return []Class{
		{"address/options", Refused, "a part of it would stand where git or ssh takes options"},
		{"address/transport", Refused, "the transport runs programs, or is unknown"},
		{"address/authority", Refused, "there is no host in it, or more than one way to find it"},
		{"address/subdir", Refused, "it points out of the package"},
		{"address/characters", Refused, "it holds characters that end lines, texts or names, or that servers read in several ways"},
		{"address/registry", Refused, "it is no registry address, and nothing else"},
		{"address/query", Refused, "an argument cannot be what it is meant to be"},
		{"address/checksum", Refused, "the archive does not have the checksum, or the argument is not a valid one"},
		{"address/good", Accepted, "users write such addresses"},
		{"address/local", Accepted, "the user's own configuration may lead anywhere on this machine"},
		{"address/module", Accepted, "it is a registry address"},
		{"location/scheme", Refused, "servers may point only to https, git over https or ssh, and oci"},
		{"location/getter", Refused, "servers may point only to https, git over https or ssh, and oci"},
		{"location/unfit", Refused, "servers may point to such an address, but it cannot be fetched here"},
		{"location/machine", Refused, "only a server on this machine may point to this machine, and no server to a metadata service"},
		{"location/address", Refused, "it is not the full address of a package"},
		{"ref/option", Refused, "git would take it for an option"},
		{"ref/expression", Refused, "it is an expression of git's, not a name"},
		{"ref/form", Refused, "git allows no such name"},
		{"ref/character", Refused, "git allows no such character"},
		{"ref/good", Accepted, "it can be the name of a ref"},
	}
}

func answerTable() []Class {
	return []Class{
		{"json/malformed", Refused, "it is not JSON, or not all of it"},
		{"json/types", Refused, "a value is of the wrong type"},
		{"json/deep", Refused, "it is nested too deeply"},
		{"json/large", Refused, "it is over a limit"},
		{"version/none", Accepted, "what is no version is left out of the list"},
		{"version/good", Accepted, "there is one version in it"},
		{"discovery/malformed", Refused, "it is no discovery document with the service in it"},
		{"discovery/location", Refused, "the service is not at an https URL"},
		{"discovery/good", Accepted, "the service is at an https URL"},
		{"manifest/malformed", Refused, "stock tools would not read it either"},
		{"manifest/good", Accepted, "stock tools read it"},
		{"oci/malformed", Refused, "it is no manifest"},
		{"oci/artifact", Refused, "the artifact is not a module package"},
		{"oci/layers", Refused, "there is not exactly one zip archive in it"},
		{"oci/descriptor", Refused, "the layer is not what the descriptor says, or cannot be"},
		{"oci/media type", Refused, "the answer is no image manifest"},
		{"oci/digest", Refused, "the manifest does not have the digest that the registry says"},
		{"oci/good", Accepted, "it is a module package"},
	}
}

// fileTable has the classes of configuration and locks.
func fileTable() []Class {
	return []Class{
		{"hcl/deep", Refused, "the parser's stack would end the process"},
		{"hcl/syntax", Refused, "it is no configuration, or two"},
		{"hcl/value", Refused, "the source has no value, or none that a package may ask for"},
		{"hcl/json", Refused, "it is no configuration, or its source has no value"},
		{"hcl/good", Accepted, "stock tools read it"},
		{"lock/deep", Refused, "the parser's stack would end the process"},
		{"lock/truncated", Refused, "the rest is missing"},
		{"lock/literal", Refused, "values in a lock are literals"},
		{"lock/hashes", Refused, "a module has exactly one hash of each scheme, and one that proves the tree"},
		{"lock/key", Refused, "it is not the path of a module call, or there twice"},
		{"lock/values", Refused, "the value is not valid for its argument, or holds a credential"},
		{"lock/file", Refused, "it is no lock file, or two"},
		{"lock/good", Accepted, "it is read, and what is unknown is kept"},
	}
}
