// nats-creds FOLDER: writes what a server needs to accept users with JWTs (FOLDER/operator.conf, to be included), and the
// file user.creds of such a user.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

func main() {
	folder := os.Args[1]
	operator, operatorKey := key(nkeys.CreateOperator())
	account, accountKey := key(nkeys.CreateAccount())
	user, userKey := key(nkeys.CreateUser())
	accountClaims := jwt.NewAccountClaims(accountKey)
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	userClaims := jwt.NewUserClaims(userKey)
	userClaims.IssuerAccount = accountKey
	_, systemKey := key(nkeys.CreateAccount())
	conf := fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %s: %s }\n",
		text(jwt.NewOperatorClaims(operatorKey).Encode(operator)), systemKey,
		accountKey, text(accountClaims.Encode(operator)),
		systemKey, text(jwt.NewAccountClaims(systemKey).Encode(operator)))
	seed, err := user.Seed()
	must(err)
	creds, err := jwt.FormatUserConfig(text(userClaims.Encode(account)), seed)
	must(err)
	must(os.WriteFile(filepath.Join(folder, "operator.conf"), []byte(conf), 0o600))
	must(os.WriteFile(filepath.Join(folder, "user.creds"), creds, 0o600))
}

// The pair and its public key.
func key(pair nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
	must(err)
	return pair, text(pair.PublicKey())
}

func text(text string, err error) string {
	must(err)
	return text
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "nats-creds:", err)
		os.Exit(1)
	}
}
