// An OpenTelemetry Collector with the receiver otlp. Its exporter `lines` appends each request as a line of OTLP JSON
// to a file, before the request is answered. Arguments and configuration are those of every collector.
package main

import (
	"context"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

type settings struct {
	Path string `mapstructure:"path"`
}

type lines struct {
	path string
	file *os.File
}

func (l *lines) Start(context.Context, component.Host) (err error) {
	l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

func (l *lines) Shutdown(context.Context) error {
	return l.file.Close()
}

func (l *lines) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{}
}

func (l *lines) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	return err
}

func newLines(_ context.Context, _ exporter.Settings, config component.Config) (exporter.Logs, error) {
	return &lines{path: config.(*settings).Path}, nil
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](exporter.NewFactory(component.MustNewType("lines"),
		func() component.Config { return &settings{} }, exporter.WithLogs(newLines, component.StabilityLevelStable)))
	return otelcol.Factories{
		Receivers: receivers,
		Exporters: exporters,
		Telemetry: otelconftelemetry.NewFactory(),
	}, err
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
			DefaultScheme:     "file",
		}},
	})
	if command.Execute() != nil {
		os.Exit(1)
	}
}
