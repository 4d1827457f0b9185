package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// delimiter separates the parts of a key inside viper. Its default, a dot, would split host names.
const delimiter = "::"

// EnvPrefix begins the names of environment variables: cluster.key_file is TANDEM_CLUSTER_KEY_FILE.
const EnvPrefix = "TANDEM"

// Override is a value that wins over file and environment: what a flag of the command line says.
type Override struct {
	// Key is the path of the key, as in cluster.id.
	Key   string
	Value any
}

// Load reads the node file at path and the environment, which wins over it. Its error is *Faults when
// the file was read and something in it is wrong.
func Load(path string, overrides ...Override) (*Config, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("node file: %w", err)
	}
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter), viper.ExperimentalBindStruct())
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	v.SetEnvPrefix(EnvPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer(delimiter, "_"))
	v.AutomaticEnv()
	for _, o := range overrides {
		v.Set(strings.ReplaceAll(o.Key, ".", delimiter), o.Value)
	}
	faults := &Faults{Path: path}
	var parse viper.ConfigParseError
	switch err := v.ReadInConfig(); {
	case errors.As(err, &parse):
		faults.add("", "mend the YAML", "%v", parse.Unwrap())
		return nil, faults
	case err != nil:
		return nil, fmt.Errorf("node file: %w", err)
	}
	f := defaults()
	decode(v, &f, faults)
	c := convert(&f, path, faults)
	if len(faults.List) > 0 {
		return nil, faults
	}
	return c, nil
}

// decode fills f and notes unknown keys and values of the wrong shape.
func decode(v *viper.Viper, f *file, faults *Faults) {
	known := keys(file{})
	for _, e := range flatten(v.UnmarshalExact(f)) {
		at, ok := errors.AsType[*mapstructure.DecodeError](e)
		if !ok {
			faults.add("", "", "%v", e)
			continue
		}
		unknown := unknownKeys(at)
		for _, name := range unknown {
			key := join(at.Name(), name)
			faults.add(key, suggest(key, known), "unknown key")
		}
		if unknown == nil {
			faults.add(at.Name(), "see docs/configuration.md for the shape of this value", "%v", at.Unwrap())
		}
	}
}

// unknownKeys lists the keys that an error of UnmarshalExact complains of. The library has no type for
// this error, so its text is read; a test fails when the text changes.
func unknownKeys(e *mapstructure.DecodeError) []string {
	list, ok := strings.CutPrefix(e.Unwrap().Error(), "has invalid keys: ")
	if !ok {
		return nil
	}
	return strings.Split(list, ", ")
}

// flatten lists the errors inside joined errors.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked here, node by node
	case interface{ Unwrap() []error }:
		var all []error
		for _, inner := range e.Unwrap() {
			all = append(all, flatten(inner)...)
		}
		return all
	case *mapstructure.DecodeError:
		if inner := flatten(e.Unwrap()); len(inner) > 1 {
			return inner
		}
	case interface{ Unwrap() error }:
		if inner := flatten(e.Unwrap()); inner != nil {
			return inner // what wraps a joined error says only that there are several
		}
	}
	return []error{err}
}
