package wire

import (
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// What both ends agree on.
const (
	// ProtocolVersion is go-plugin's number for package pipectl.plugin.v1, and
	// ProtocolMinor the minor version of that file.
	ProtocolVersion = 1
	ProtocolMinor   = 0
	// PluginName is the one entry of go-plugin's plugin set.
	PluginName = "pipectl"
	// HostBrokerID is the broker stream on which the host serves HostService;
	// it is announced when the host connects and dialled at once.
	HostBrokerID = 1
	// BundledArgument starts a program that bundles plugins as one of them; the
	// plugin's name follows it.
	BundledArgument = "-pipectl-plugin"
	// LogLevelVariable is the environment variable in which the host names the
	// level of a plugin's log: debug, info, warn or error.
	LogLevelVariable = "PIPECTL_PLUGIN_LOG"
	// ProfileVariable is the environment variable that names the folder where
	// host and plugins write profiles of themselves; see sdk.Profile.
	ProfileVariable = "PIPECTL_PROFILE"

	// MaxMessage is the limit of one message in bytes, on both ends.
	MaxMessage = 16 << 20
	// streamWindow and connectionWindow are fixed: grpc's automatic window may
	// grow to 16 MiB a stream, and that times fifty streams is the memory bound.
	streamWindow     = 4 << 20
	connectionWindow = 64 << 20
	// ioBuffer batches small writes; frames are larger and pass it by.
	ioBuffer = 256 << 10

	// KeepaliveTime is how long a connection is quiet before the host asks
	// whether the plugin lives, KeepaliveTimeout how long it waits for an answer.
	KeepaliveTime    = 10 * time.Second
	KeepaliveTimeout = 10 * time.Second
)

// Handshake is go-plugin's: it tells a plugin started by hand what it is.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   "PIPECTL_PLUGIN",
		MagicCookieValue: "7c3f4a1e9b52",
	}
}

// ServerOptions are those of every server, on either side.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
		grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connectionWindow),
		grpc.ReadBufferSize(ioBuffer), grpc.WriteBufferSize(ioBuffer),
		// Without a policy that matches the host's keepalive a server ends an
		// idle stream after some 30 s.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: KeepaliveTime / 2, PermitWithoutStream: true}),
	}
}

// DialOptions are those of every client, on either side.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec()), grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connectionWindow),
		grpc.WithReadBufferSize(ioBuffer), grpc.WithWriteBufferSize(ioBuffer),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: KeepaliveTime, Timeout: KeepaliveTimeout, PermitWithoutStream: true}),
	}
}
