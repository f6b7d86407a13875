package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// Server serves a plugin over gRPC and keeps its sessions.
type Server struct {
	pb.UnimplementedPluginServiceServer
	plugin plugin.Plugin
	host   func(context.Context) (grpc.ClientConnInterface, error)

	mu     sync.Mutex
	opened int
	open   map[string]*session
}

// session is one configured component; exactly one of the four is set.
type session struct {
	source plugin.Source
	tables plugin.Tables
	silver plugin.Silver
	check  plugin.Check
}

func (s *session) close() error {
	switch {
	case s.source != nil:
		return s.source.Close()
	case s.tables != nil:
		return s.tables.Close()
	case s.silver != nil:
		return s.silver.Close()
	}
	return s.check.Close()
}

// NewServer returns a server of a plugin. host gives the connection on which
// the host serves its services; it may wait for it, and is called only for a
// plugin with a silver or a check.
func NewServer(p plugin.Plugin, host func(context.Context) (grpc.ClientConnInterface, error)) *Server {
	return &Server{plugin: p, host: host, open: map[string]*session{}}
}

// Register adds the services of a plugin to a gRPC server.
func (s *Server) Register(to grpc.ServiceRegistrar) {
	pb.RegisterPluginServiceServer(to, s)
	pb.RegisterSourceServiceServer(to, &sourceServer{find: s.source})
	pb.RegisterTablesServiceServer(to, &tablesServer{find: s.tables, verify: true})
	pb.RegisterSilverServiceServer(to, &silverServer{server: s})
	pb.RegisterCheckServiceServer(to, &checkServer{server: s})
}

// Close closes every session that is still open.
func (s *Server) Close() error {
	s.mu.Lock()
	open := s.open
	s.open = map[string]*session{}
	s.mu.Unlock()
	var errs []error
	for id, one := range open {
		if err := one.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing session %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Server) find(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.open[id]
	if !ok {
		return nil, noSession(id)
	}
	return one, nil
}

func (s *Server) source(id string) (plugin.Source, error) {
	one, err := s.find(id)
	if err != nil || one.source == nil {
		return nil, errors.Join(err, noRole(one, plugin.RoleSource, id))
	}
	return one.source, nil
}

func (s *Server) tables(id string) (plugin.Tables, error) {
	one, err := s.find(id)
	if err != nil || one.tables == nil {
		return nil, errors.Join(err, noRole(one, plugin.RoleSink, id))
	}
	return one.tables, nil
}

func (s *Server) silver(id string) (plugin.Silver, error) {
	one, err := s.find(id)
	if err != nil || one.silver == nil {
		return nil, errors.Join(err, noRole(one, plugin.RoleSilver, id))
	}
	return one.silver, nil
}

func (s *Server) check(id string) (plugin.Check, error) {
	one, err := s.find(id)
	if err != nil || one.check == nil {
		return nil, errors.Join(err, noRole(one, plugin.RoleCheck, id))
	}
	return one.check, nil
}

// noRole is the error of a session that exists but is of another role.
func noRole(one *session, want plugin.Role, id string) error {
	if one == nil {
		return nil
	}
	return fmt.Errorf("session %q is not of a %s", id, want)
}

// respond runs an implementation and puts its diagnostics into the response.
func respond(ctx context.Context, into *[]*pb.Diagnostic, do func() error) error {
	list, err := failure(ctx, do())
	*into = list
	return err
}

// Describe answers for the plugin.
func (s *Server) Describe(ctx context.Context, _ *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	out := &pb.DescribeResponse{ProtocolMinor: ProtocolMinor}
	return out, respond(ctx, &out.Diagnostics, func() error {
		d, err := s.plugin.Describe(ctx)
		if err != nil {
			return err
		}
		out.Name, out.Version = d.Name, d.Version
		out.Components, err = tryEach(d.Components, componentToProto)
		return err
	})
}

// ValidateConfig answers for the plugin.
func (s *Server) ValidateConfig(ctx context.Context, r *pb.ValidateConfigRequest) (*pb.ValidateConfigResponse, error) {
	out := &pb.ValidateConfigResponse{}
	var found []*pb.Diagnostic
	err := respond(ctx, &out.Diagnostics, func() error {
		role, err := roles.text(r.Role)
		if err != nil {
			return err
		}
		body, err := bodyKinds.text(r.Body)
		if err != nil {
			return err
		}
		value, err := valueFromProto(r.Value)
		if err != nil {
			return err
		}
		list, err := s.plugin.ValidateConfig(ctx, plugin.ComponentID{Role: role, Type: r.Component}, body, value)
		found = diagnosticsToProto(list)
		return err
	})
	out.Diagnostics = append(found, out.Diagnostics...)
	return out, err
}

// Configure opens a session.
func (s *Server) Configure(ctx context.Context, r *pb.ConfigureRequest) (*pb.ConfigureResponse, error) {
	out := &pb.ConfigureResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		config, err := valueFromProto(r.Config)
		if err != nil {
			return err
		}
		req := plugin.OpenRequest{
			Component: r.Component, Address: r.Address, Config: config, RunID: r.RunId,
			MaxConnections: int(r.MaxConnections), MemoryBudget: r.MemoryBudget, SpillDir: r.SpillDir,
		}
		one := &session{}
		switch r.Role {
		case pb.Role_ROLE_SOURCE:
			if one.source, err = s.plugin.OpenSource(ctx, req); err == nil {
				out.Limits = limitsToProto(one.source.Limits())
			}
		case pb.Role_ROLE_SINK:
			if one.tables, err = s.plugin.OpenTables(ctx, req); err == nil {
				out.Limits = limitsToProto(one.tables.Limits())
			}
		case pb.Role_ROLE_SILVER:
			one.silver, err = s.plugin.OpenSilver(ctx, req)
		case pb.Role_ROLE_CHECK:
			one.check, err = s.plugin.OpenCheck(ctx, req)
		default:
			_, err = roles.text(r.Role)
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened++
		out.Session = fmt.Sprintf("%s#%d", r.Address, s.opened)
		s.open[out.Session] = one
		return nil
	})
}

// CloseSession closes one.
func (s *Server) CloseSession(ctx context.Context, r *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	out := &pb.CloseSessionResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		s.mu.Lock()
		one, ok := s.open[r.Session]
		delete(s.open, r.Session)
		s.mu.Unlock()
		if !ok {
			return noSession(r.Session)
		}
		return one.close()
	})
}

func componentToProto(c plugin.Component) (*pb.Component, error) {
	role, err := roles.number(c.Role)
	if err != nil {
		return nil, err
	}
	out := &pb.Component{Role: role, Type: c.Type, Description: c.Description, Capabilities: &pb.Component_Capabilities{
		Snapshot: c.Capabilities.Snapshot, Aggregate: c.Capabilities.Aggregate, Lost: c.Capabilities.Lost,
		Merge: c.Capabilities.Merge, Objects: c.Capabilities.Objects, History: c.Capabilities.History,
	}}
	if out.Connection, err = bodyToProto(c.Connection); err != nil {
		return nil, fmt.Errorf("the connection body of %s %q: %w", c.Role, c.Type, err)
	}
	if out.Object, err = bodyToProto(c.Object); err != nil {
		return nil, fmt.Errorf("the object body of %s %q: %w", c.Role, c.Type, err)
	}
	if out.Read, err = bodyToProto(c.Read); err != nil {
		return nil, fmt.Errorf("the read body of %s %q: %w", c.Role, c.Type, err)
	}
	return out, nil
}

func componentFromProto(c *pb.Component) (plugin.Component, error) {
	role, err := roles.text(c.Role)
	if err != nil {
		return plugin.Component{}, err
	}
	out := plugin.Component{Role: role, Type: c.Type, Description: c.Description, Capabilities: plugin.Capabilities{
		Snapshot: c.Capabilities.GetSnapshot(), Aggregate: c.Capabilities.GetAggregate(), Lost: c.Capabilities.GetLost(),
		Merge: c.Capabilities.GetMerge(), Objects: c.Capabilities.GetObjects(), History: c.Capabilities.GetHistory(),
	}}
	if out.Connection, err = bodyFromProto(c.Connection, 0); err != nil {
		return out, fmt.Errorf("the connection body of %s %q: %w", role, c.Type, err)
	}
	if out.Object, err = bodyFromProto(c.Object, 0); err != nil {
		return out, fmt.Errorf("the object body of %s %q: %w", role, c.Type, err)
	}
	if out.Read, err = bodyFromProto(c.Read, 0); err != nil {
		return out, fmt.Errorf("the read body of %s %q: %w", role, c.Type, err)
	}
	return out, nil
}
