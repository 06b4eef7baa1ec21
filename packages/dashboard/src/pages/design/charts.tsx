import { TextInput } from "../../ui/form-controls.tsx";
import { formatMoneyAxis } from "../../ui/format-quantities.ts";
import { LabelledField } from "../../ui/labelled-field.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { restColour, seriesColours } from "../../ui/series-colours.ts";
import { StackedBarChart } from "../../ui/stacked-bars.tsx";

const names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const series = [...seriesColours, restColour].map((colour, index) => ({
  name: colour.name,
  colour,
  values: names.map((_, day) => ((day * 5 + index * 3) % 7) / 4),
}));

export function Charts() {
  return (
    <Panel title="Charts, meters, labels">
      <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
        <StackedBarChart
          label="Chart colours in order, with a limit"
          names={names}
          series={series}
          limit={7}
          formatAxis={formatMoneyAxis}
        />
        <div className="flex flex-col gap-3">
          <Meter label="Partly used" value={0.4} />
          <Meter label="Used up" value={1} isFull />
          <LabelledField label="Labelled field">{(id) => <TextInput id={id} />}</LabelledField>
        </div>
      </div>
    </Panel>
  );
}
