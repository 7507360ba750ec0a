package gitdir

import "golang.org/x/sys/windows"

// ownedByUser also accepts the group Administrators for its members. owner is the other owner; "" if the file
// system records none.
func ownedByUser(path string, _ []string) (own bool, owner string) {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false, ""
	}
	sid, _, err := descriptor.Owner()
	if err != nil || sid == nil || !sid.IsValid() {
		return false, ""
	}
	self, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err == nil && sid.Equals(self.User.Sid) {
		return true, ""
	}
	if sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		// The zero token stands for the process.
		if member, err := windows.Token(0).IsMember(sid); err == nil && member {
			return true, ""
		}
	}
	account, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return false, sid.String()
	}
	return false, domain + `\` + account
}
