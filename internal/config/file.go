package config

// file is the node file as it is written: the names of its keys and nothing else. Values are text here
// and become types in convert.go, so that a bad value is reported like every other fault. The fields
// that may stay empty carry their default in defaults.
type file struct {
	Name         string         `mapstructure:"name"`
	Site         string         `mapstructure:"site"`
	Witness      bool           `mapstructure:"witness"`
	DataDir      string         `mapstructure:"data_dir"`
	ClockOffset  string         `mapstructure:"clock_offset"`
	Listeners    []fileListener `mapstructure:"listeners"`
	Interconnect fileEndpoint   `mapstructure:"interconnect"`
	Cluster      fileCluster    `mapstructure:"cluster"`
	Admin        fileAdmin      `mapstructure:"admin"`
	CDR          fileCDR        `mapstructure:"cdr"`
	Log          fileLog        `mapstructure:"log"`
	SIP          fileSIP        `mapstructure:"sip"`
	DNS          fileDNS        `mapstructure:"dns"`
	Drain        fileDrain      `mapstructure:"drain"`
	SoftState    fileSoftState  `mapstructure:"soft_state"`
	Metrics      fileMetrics    `mapstructure:"metrics"`
	Doors        fileDoors      `mapstructure:"doors"`
	Diameter     fileDiameter   `mapstructure:"diameter"`
}

type fileEndpoint struct {
	Address   string `mapstructure:"address"`
	Advertise string `mapstructure:"advertise"`
}

type fileListener struct {
	Name      string        `mapstructure:"name"`
	Transport string        `mapstructure:"transport"`
	Address   string        `mapstructure:"address"`
	Advertise string        `mapstructure:"advertise"`
	Zone      string        `mapstructure:"zone"`
	TLS       fileTLS       `mapstructure:"tls"`
	WebSocket fileWebSocket `mapstructure:"websocket"`
	Allow     []string      `mapstructure:"allow"`
	Deny      []string      `mapstructure:"deny"`
}

type fileTLS struct {
	Cert     string `mapstructure:"cert"`
	Key      string `mapstructure:"key"`
	ClientCA string `mapstructure:"client_ca"`
}

type fileCluster struct {
	ID       string         `mapstructure:"id"`
	Key      string         `mapstructure:"key"`
	KeyFile  string         `mapstructure:"key_file"`
	Reload   string         `mapstructure:"reload"`
	TLS      fileClusterTLS `mapstructure:"tls"`
	Gossip   fileEndpoint   `mapstructure:"gossip"`
	Raft     fileRaft       `mapstructure:"raft"`
	Peers    []filePeer     `mapstructure:"peers"`
	DialMap  []fileDialRule `mapstructure:"dial_map"`
	Document string         `mapstructure:"document"`
}

type fileClusterTLS struct {
	Cert  string `mapstructure:"cert"`
	Key   string `mapstructure:"key"`
	CA    string `mapstructure:"ca"`
	Mode  string `mapstructure:"mode"`
	CAKey string `mapstructure:"ca_key"`
}

type fileRaft struct {
	Address   string      `mapstructure:"address"`
	Advertise string      `mapstructure:"advertise"`
	Voters    []fileVoter `mapstructure:"voters"`
}

type fileVoter struct {
	Name    string `mapstructure:"name"`
	Address string `mapstructure:"address"`
}

type filePeer struct {
	Name         string `mapstructure:"name"`
	Site         string `mapstructure:"site"`
	Gossip       string `mapstructure:"gossip"`
	Interconnect string `mapstructure:"interconnect"`
}

type fileDialRule struct {
	Address string `mapstructure:"address"`
	Via     string `mapstructure:"via"`
}

type fileAdmin struct {
	Address   string     `mapstructure:"address"`
	TokenFile string     `mapstructure:"token_file"`
	Metrics   string     `mapstructure:"metrics"`
	Remote    fileRemote `mapstructure:"remote"`
}

type fileRemote struct {
	Address string  `mapstructure:"address"`
	TLS     fileTLS `mapstructure:"tls"`
}

type fileLog struct {
	Level  string `mapstructure:"level"`
	Format string `mapstructure:"format"`
}

type fileSIP struct {
	Realm          string        `mapstructure:"realm"`
	Domains        []string      `mapstructure:"domains"`
	Strict         string        `mapstructure:"strict_domains"`
	UserAgent      string        `mapstructure:"user_agent"`
	DoNotOriginate string        `mapstructure:"do_not_originate"`
	Shards         int           `mapstructure:"shards"`
	Timers         fileTimers    `mapstructure:"timers"`
	Limits         fileLimits    `mapstructure:"limits"`
	TLS            fileClientTLS `mapstructure:"tls"`
}

type fileTimers struct {
	T1 string `mapstructure:"t1"`
	T2 string `mapstructure:"t2"`
	T4 string `mapstructure:"t4"`
}

type fileLimits struct {
	Calls                int `mapstructure:"calls"`
	Connections          int `mapstructure:"connections"`
	ConnectionsPerSource int `mapstructure:"connections_per_source"`
}

type fileClientTLS struct {
	Cert string `mapstructure:"cert"`
	Key  string `mapstructure:"key"`
	CA   string `mapstructure:"ca"`
}

type fileDNS struct {
	Servers []string `mapstructure:"servers"`
}

// defaults is the file that an empty file stands for.
func defaults() file {
	return file{
		DataDir: "/var/lib/tandem", ClockOffset: "0s",
		Admin:     fileAdmin{Address: "unix:/run/tandem/admin.sock"},
		SoftState: fileSoftState{Entries: 500_000, Size: "512MiB"},
		Metrics:   fileMetrics{MaxMembers: 10_000},
		CDR:       defaultCDR(),
		Cluster:   fileCluster{Reload: "5s"},
		Doors:     defaultDoors(),
		Diameter:  defaultDiameter(),
		Log:       fileLog{Level: "info", Format: "json"},
		Drain:     fileDrain{Announce: "2m", Quiet: "10s", Timeout: "10m"},
		SIP: fileSIP{
			UserAgent: "Tandem",
			Strict:    "users",
			Timers:    fileTimers{T1: "500ms", T2: "4s", T4: "5s"},
			Limits:    fileLimits{Connections: 10_000, ConnectionsPerSource: 1_000},
		},
	}
}
