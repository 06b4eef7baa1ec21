import { TextInput } from "../../ui/field.tsx";
import { Labelled } from "../../ui/labelled.tsx";
import { Panel } from "../../ui/panel.tsx";
import { moneyWords } from "../../ui/quantities.ts";
import { restColour, seriesColours } from "../../ui/series.ts";
import { Share } from "../../ui/share.tsx";
import { StackedBars } from "../../ui/stacked-bars.tsx";

const names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const series = [...seriesColours, restColour].map((colour, at) => ({
  name: colour.name,
  colour,
  values: names.map((_, day) => ((day * 5 + at * 3) % 7) / 4),
}));

export function Charts() {
  return (
    <Panel title="Charts, shares, labels">
      <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
        <StackedBars
          label="Colours of a chart in their order, with a limit"
          names={names}
          series={series}
          limit={7}
          words={moneyWords}
        />
        <div className="flex flex-col gap-3">
          <Share label="A part" value={0.4} />
          <Share label="All of it" value={1} isFull />
          <Labelled label="A field with its label">{(id) => <TextInput id={id} />}</Labelled>
        </div>
      </div>
    </Panel>
  );
}
