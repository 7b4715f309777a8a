// Command mongodb-for-tests is FerretDB v1 on SQLite in one process: mongodb-for-tests ADDRESS SQLITE_URL.
//
// It prints its URL once it listens.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: os.Args[1]},
		Handler:   "sqlite",
		SQLiteURL: os.Args[2],
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(server.MongoDBURI())
	log.Fatal(server.Run(context.Background()))
}
