package eval

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/apparentlymart/go-cidr/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// cidrFunctions use the library of the stock tools.
func cidrFunctions() map[string]function.Function {
	number := function.Parameter{Type: cty.Number}
	prefix := function.Parameter{Name: "prefix", Type: cty.String}
	return map[string]function.Function{
		"cidrhost": cidrFunction(cty.String, []function.Parameter{prefix, number}, nil, func(network *net.IPNet, args []cty.Value) (cty.Value, error) {
			host, accuracy := args[0].AsBigFloat().Int(nil)
			if accuracy != 0 {
				return cty.NilVal, errors.New("the number of the host must be a whole number")
			}
			ip, err := cidr.HostBig(network, host)
			return cty.StringVal(ip.String()), err
		}),
		"cidrnetmask": cidrFunction(cty.String, []function.Parameter{prefix}, nil, func(network *net.IPNet, _ []cty.Value) (cty.Value, error) {
			if len(network.Mask) != net.IPv4len {
				return cty.NilVal, errors.New("IPv6 addresses have no netmask")
			}
			return cty.StringVal(net.IP(network.Mask).String()), nil
		}),
		"cidrsubnet": cidrFunction(cty.String, []function.Parameter{prefix, number, number}, nil, func(network *net.IPNet, args []cty.Value) (cty.Value, error) {
			bits, err := wholeNumber(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			n, accuracy := args[1].AsBigFloat().Int(nil)
			if accuracy != 0 {
				return cty.NilVal, errors.New("the number of the network must be a whole number")
			}
			subnet, err := cidr.SubnetBig(network, bits, n)
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(subnet.String()), nil
		}),
		"cidrsubnets": cidrFunction(cty.List(cty.String), []function.Parameter{prefix}, &number, subnets),
		"cidrcontains": cidrFunction(cty.Bool, []function.Parameter{prefix, {Name: "contained", Type: cty.String}}, nil, func(network *net.IPNet, args []cty.Value) (cty.Value, error) {
			first, last := parseIP(args[0].AsString()), net.IP(nil)
			if first == nil {
				contained, err := parseCIDR(args[0].AsString())
				if err != nil {
					return cty.NilVal, err
				}
				first, last = cidr.AddressRange(contained)
			} else {
				last = first
			}
			if (first.To4() == nil) != (len(network.Mask) != net.IPv4len) {
				return cty.NilVal, errors.New("both must be IPv4 or both IPv6")
			}
			return cty.BoolVal(network.Contains(first) && network.Contains(last)), nil
		}),
	}
}

func cidrFunction(ty cty.Type, params []function.Parameter, rest *function.Parameter, f func(network *net.IPNet, args []cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params:   params,
		VarParam: rest,
		Type:     function.StaticReturnType(ty),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			network, err := parseCIDR(args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			return f(network, args[1:])
		},
	})
}

func subnets(network *net.IPNet, args []cty.Value) (cty.Value, error) {
	if len(args) == 0 {
		return cty.ListValEmpty(cty.String), nil
	}
	start, bits := network.Mask.Size()
	var found []cty.Value
	var current *net.IPNet
	for i, arg := range args {
		added, err := wholeNumber(arg)
		switch {
		case err != nil:
			return cty.NilVal, err
		case added < 1:
			return cty.NilVal, errors.New("a network must be smaller than the prefix by at least one bit")
		case added > 32:
			return cty.NilVal, errors.New("a network cannot be smaller than the prefix by more than 32 bits")
		case start+added > bits:
			return cty.NilVal, fmt.Errorf("an address of %d bits has not %d bits more than the prefix", bits, added)
		}
		if i == 0 {
			current, _ = cidr.PreviousSubnet(network, start+added)
		}
		next, over := cidr.NextSubnet(current, start+added)
		if over || !network.Contains(next.IP) {
			return cty.NilVal, errors.New("the prefix has no room for so many networks")
		}
		current = next
		found = append(found, cty.StringVal(next.String()))
	}
	return cty.ListVal(found), nil
}

func wholeNumber(v cty.Value) (int, error) {
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != 0 || n < -1<<31 || n >= 1<<31 {
		return 0, errors.New("the number of bits must be a whole number")
	}
	return int(n), nil
}

// leadingZeros matches those of a decimal number, which stock tools ignore in IPv4 addresses, as old versions of Go did.
var leadingZeros = regexp.MustCompile(`(^|\.)0+([0-9])`)

func withoutLeadingZeros(ip string) string {
	if strings.Contains(ip, ":") {
		return ip
	}
	return leadingZeros.ReplaceAllString(ip, "$1$2")
}

func parseIP(text string) net.IP { return net.ParseIP(withoutLeadingZeros(text)) }

func parseCIDR(text string) (*net.IPNet, error) {
	ip, bits, _ := strings.Cut(text, "/")
	_, network, err := net.ParseCIDR(withoutLeadingZeros(ip) + "/" + bits)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address prefix such as 10.1.0.0/16", text)
	}
	return network, nil
}
