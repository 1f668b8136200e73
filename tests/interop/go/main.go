// Command vectors decodes and encodes the vectors of a folder with the published messages, and
// prints what came of it as one JSON document: see interop_vectors.py.
package main

import (
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/livekit/protocol/livekit/agent"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

type vectorFile struct {
	Message string
	Vectors []struct {
		Name string
		Hex  string
		JSON json.RawMessage
	}
}

type enumFile struct {
	Values []struct{ Enum string }
}

type result struct {
	File   string          `json:"file"`
	Name   string          `json:"name"`
	Hex    string          `json:"hex"`
	JSON   json.RawMessage `json:"json"`
	Parsed string          `json:"parsed"`
}

func main() {
	log.SetFlags(0)
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.*.json"))
	check(err)
	var messages []result
	for _, path := range paths {
		messages = append(messages, readMessages(path)...)
	}
	enums := readEnums(filepath.Join(os.Args[1], "enums.json"))
	found := map[string]any{"messages": messages, "enums": enums}
	check(json.NewEncoder(os.Stdout).Encode(found))
}

func readMessages(path string) []result {
	var file vectorFile
	readJSON(path, &file)
	kind, err := protoregistry.GlobalTypes.FindMessageByName(published(file.Message))
	check(err)
	var results []result
	for _, vector := range file.Vectors {
		data, err := hex.DecodeString(vector.Hex)
		check(err)
		decoded, parsed := kind.New().Interface(), kind.New().Interface()
		check(proto.Unmarshal(data, decoded))
		check(protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(vector.JSON, parsed))
		text, err := protojson.Marshal(decoded)
		check(err)
		results = append(results, result{
			File:   filepath.Base(path),
			Name:   vector.Name,
			Hex:    encode(decoded),
			JSON:   text,
			Parsed: encode(parsed),
		})
	}
	return results
}

func readEnums(path string) map[string]map[string]int {
	var file enumFile
	readJSON(path, &file)
	enums := map[string]map[string]int{}
	for _, value := range file.Values {
		enums[value.Enum] = nil
		kind, err := protoregistry.GlobalTypes.FindEnumByName(published(value.Enum))
		if err != nil {
			continue
		}
		numbers := map[string]int{}
		values := kind.Descriptor().Values()
		for i := range values.Len() {
			numbers[string(values.Get(i).Name())] = int(values.Get(i).Number())
		}
		enums[value.Enum] = numbers
	}
	return enums
}

// published returns the name of a message or enum in the published package.
func published(name string) protoreflect.FullName {
	_, name, _ = strings.Cut(name, ".")
	return protoreflect.FullName("livekit.agent." + name)
}

func encode(message proto.Message) string {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	check(err)
	return hex.EncodeToString(data)
}

func readJSON(path string, into any) {
	data, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(data, into))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
