package deck

import (
	"bufio"
	"io"
	"strconv"
	"time"
)

// exportCheck is after how many rows an export asks whether anybody still wants it.
const exportCheck = 4096

// Export writes the deck as a list that ReadCSV reads. wanted is asked now and then; what it
// says ends the export.
func (d *Deck) Export(w io.Writer, wanted func() error) error {
	out := bufio.NewWriterSize(w, 64<<10)
	columns := exportColumns[:]
	if d.sells {
		columns = []string{"prefix", "rate", "currency", "increment", "min_duration", "effective_from", "effective_to"}
	}
	line := appendLine(nil, columns)
	if _, err := out.Write(line); err != nil {
		return err
	}
	n := 0
	for r := range d.All() {
		if n++; n%exportCheck == 0 {
			if err := wanted(); err != nil {
				return err
			}
		}
		fields := [columnCount]string{
			colPrefix: r.Prefix, colCarrier: r.Carrier, colGroup: r.Group, colRate: r.Price.String(), colCurrency: d.currency,
			colIncrement: seconds(r.Increment), colMinDuration: seconds(r.MinDuration), colFrom: moment(r.From), colTo: moment(r.To),
			colTechPrefix: r.TechPrefix, colPolicy: r.NumberPolicy, colPriority: seconds(r.Priority),
		}
		if r.Blocked {
			fields[colRate] = "block"
		}
		list := fields[:]
		if d.sells {
			list = []string{r.Prefix, fields[colRate], d.currency, fields[colIncrement], fields[colMinDuration], fields[colFrom], fields[colTo]}
		}
		line = appendLine(line[:0], list)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// appendLine writes fields, none of which needs a quote.
func appendLine(dst []byte, fields []string) []byte {
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, f...)
	}
	return append(dst, '\n')
}

func seconds(n uint32) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
