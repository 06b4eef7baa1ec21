import { useState } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select, TextArea, TextInput } from "../../ui/field.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { OutcomeCodeBadge } from "../../ui/outcome-badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Ago, Duration, Money } from "../../ui/time.tsx";

const outcomes = ["success", "finished_with_denials", "max_turns", "cancelled"];
const spans = ["1 h", "6 h", "24 h"].map((value) => ({ value, title: value }));
const sample =
  "**Words** of agents are set as they wrote them: `code`, [links](https://example.com), lists; <b>no HTML</b>.";

export function Parts() {
  const [span, setSpan] = useState("6 h");
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel title="Parts">
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center gap-2">
          <Button look="main">Main</Button>
          <Button onClick={() => setOpen(true)}>Open a dialog</Button>
          <Button look="bad">Cancel</Button>
          <Button look="quiet">Quiet</Button>
          <Button size="small">Small</Button>
          <Button obstacle="You may only look.">With an obstacle</Button>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {outcomes.map((code) => (
            <OutcomeCodeBadge key={code} code={code} />
          ))}
          <Badge tone="live">running</Badge>
          <Badge tone="wait">waiting</Badge>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <TextInput aria-label="Text" placeholder="Text" />
          <Select aria-label="One of many">
            <option>fixer</option>
            <option>reporter</option>
          </Select>
          <Choice label="One of a few" value={span} options={spans} onChange={setSpan} />
        </div>
        <TextArea aria-label="Longer text" placeholder="Longer text" />
        <div className="flex gap-4 text-muted">
          <Ago at={new Date(Date.now() - 90_000).toISOString()} />
          <Duration seconds={185} />
          <Money usd={0.0042} />
        </div>
        <CodeBlock label="A command" text="herdctl open" />
        <Markdown text={sample} />
        <Dialog open={isOpen} onOpenChange={setOpen} title="A dialog" note="Escape closes it.">
          <Button onClick={() => setOpen(false)}>Close</Button>
        </Dialog>
      </div>
    </Panel>
  );
}
