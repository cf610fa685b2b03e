// generate.go writes cases.txt: what golang.org/x/net/http/httpproxy says about values of NO_PROXY.
//
//	go run . > cases.txt
//
// Each row is a list and, for each of the hosts, 1 if it is reached without the proxy. The lists are made of parts by a
// seeded generator, so the file changes only with the parts, or with what the package does. test/unit/test_no_proxy.c
// compares.
package main

import (
	"fmt"
	"math/rand"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

var hosts = []string{
	"example.com:6443", "k.example.com:6443", "K.Example.COM:443", "example.com.:6443", "notexample.com:6443", "com:443",
	"a.b.k.example.com:80", "localhost:6443", "LOCALHOST:6443", "x.localhost:1", "k:6443", "10.0.0.1:6443", "10.0.0.1:443",
	"10.1.2.3:6443", "11.0.0.1:6443", "127.0.0.1:6443", "127.9.9.9:6443", "192.168.7.9:80", "10.0.1:6443", "0.0.0.0:1",
	"fd00::1:6443", "fd00::1:443", "fd12::7:6443", "fe80::1:6443", "::1:6443", "::ffff:10.0.0.1:6443", "::ffff:127.0.0.1:80",
	"::ffff:192.168.0.1:443", "::10.0.0.1:6443", "64:ff9b::a00:1:6443", "xn--bcher-kva.example:6443",
	"k.xn--bcher-kva.example:443", "xn--e1afmkfd.xn--p1ai:6443", "xn--fiqs8s:6443", "xn--zca.example:6443",
	"ss.example:6443", "xn--strae-oqa.xn--bcher-kva.example:6443", "xn--jxalpdlp:6443", "_k.example.com:6443", ".example.com:1",
}

var names = []string{
	"example.com", "EXAMPLE.com", "k.example.com", "com", "k", "localhost", ".", "", "bücher.example", "BÜCHER.example",
	"пример.рф", "ПРИМЕР.рф", "中国", "ß.example", "straße.bücher.example", "Straße.BÜCHER.Example", "δοκιμη", "ΔΟΚΙΜΗ",
	"xn--bcher-kva.example", "_k.example.com", "_k.bücher.example", "-k.bücher.example", "k-.bücher.example",
	"k--k.bücher.example", "aa--k.bücher.example", "bücher。example", "exam ple.com", "example..com", "example.com.", "0.1",
	"0.0.1", "10.0.1", "\xff.example", "ü",
}

var addresses = []string{
	"10.0.0.1", "10.0.0.10", "010.0.0.1", "10.1.2.3", "127.0.0.1", "192.168.7.9", "fd00::1", "FD00::1", "fd00:0:0::1", "fe80::1",
	"fe80::1%eth0", "::1", "::ffff:10.0.0.1", "::ffff:a00:1", "::10.0.0.1", "::", "0.0.0.0", "1.2.3.4.5", "10.0.0", "::ffff:10.0.0.256",
	"12345::1", "64:ff9b::a00:1",
}

var masks = []string{
	"0", "1", "8", "08", "16", "30", "31", "32", "33", "64", "80", "90", "95", "96", "97", "100", "104", "112", "120", "127", "128",
	"129", "", "x", "+8", "-0", "99999999999", "8/8", "8:443",
}

var ports = []string{"6443", "443", "80", "06443", "6443x", "", "+6443", "http", "6443:443", "]"}
var before = []string{"", "", "", "", "*.", ".", "*", "[", "[[", "*.*.", "..", "//"}
var spaces = []string{"", "", "", "", " ", "  ", "\t", "\n", " \t "}
var separators = []string{",", ",", ",", ",", " ", ", ", ",,", ";", "\t", "|"}

func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

func entry(r *rand.Rand) string {
	var text string
	switch r.Intn(8) {
	case 0, 1, 2:
		text = pick(r, before) + pick(r, names)
	case 3:
		text = pick(r, addresses)
	case 4, 5:
		text = pick(r, addresses) + "/" + pick(r, masks)
	case 6:
		text = "[" + pick(r, addresses) + "]"
	case 7:
		text = pick(r, []string{"*", "*", ",", ":", ":6443", "[]", "[]:6443", "[", "]", "*:6443", "/", "/8", "* *", "."})
	}
	if r.Intn(3) == 0 {
		text += ":" + pick(r, ports)
	}
	return pick(r, spaces) + text + pick(r, spaces)
}

func list(r *rand.Rand) string {
	text := entry(r)
	for r.Intn(3) == 0 {
		text += pick(r, separators) + entry(r)
	}
	return text
}

func bits(noProxy string) string {
	config := httpproxy.Config{HTTPSProxy: "http://p:1", NoProxy: noProxy}
	proxy, said := config.ProxyFunc(), strings.Builder{}
	for _, host := range hosts {
		colon := strings.LastIndex(host, ":")
		found, err := proxy(&url.URL{Scheme: "https", Host: net.JoinHostPort(host[:colon], host[colon+1:])})
		if err != nil {
			panic(err)
		}
		said.WriteByte("01"[map[bool]int{true: 1}[found == nil]])
	}
	return said.String()
}

// Control characters, and what is not UTF-8, would make the file hard to read.
func shown(text string) string {
	return strings.NewReplacer("\t", `\x09`, "\n", `\x0a`, "\xff", `\xff`).Replace(text)
}

func main() {
	r, seen := rand.New(rand.NewSource(14)), map[string]bool{}
	fmt.Println("# What golang.org/x/net/http/httpproxy v0.56.0 says about NO_PROXY; written by generate.go.")
	for _, host := range hosts {
		fmt.Println("host", host)
	}
	nothing, dull := bits(""), 0
	for len(seen) < 800 {
		text := list(r)
		said := bits(text)
		if seen[text] || said == nothing && dull == 300 {
			continue
		}
		if said == nothing {
			dull++
		}
		seen[text] = true
		fmt.Println(said, shown(text)+"|")
	}
}
