module interop

go 1.26.0

require (
	github.com/livekit/protocol v1.53.2
	google.golang.org/protobuf v1.36.12
)
