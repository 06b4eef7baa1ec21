import { useState } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select, TextArea, TextInput } from "../../ui/form-controls.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { OutcomeCodeBadge } from "../../ui/outcome-badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { Duration, Money, RelativeTime } from "../../ui/time.tsx";

const outcomes = ["success", "finished_with_denials", "max_turns", "cancelled"];
const spans = ["1 h", "6 h", "24 h"].map((value) => ({ value, title: value }));
const sample =
  "Agents write **Markdown**: `code`, [links](https://example.com) and lists, but <b>no HTML</b>.";

export function Components() {
  const [span, setSpan] = useState("6 h");
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel title="Components">
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center gap-2">
          <Button variant="main">Main</Button>
          <Button onClick={() => setOpen(true)}>Open a dialog</Button>
          <Button variant="bad">Cancel</Button>
          <Button variant="quiet">Quiet</Button>
          <Button size="small">Small</Button>
          <Button disabledReason="You have read-only access.">Disabled</Button>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {outcomes.map((code) => (
            <OutcomeCodeBadge key={code} code={code} />
          ))}
          <Badge tone="live">Running</Badge>
          <Badge tone="wait">Waiting</Badge>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <TextInput aria-label="Text" placeholder="Text" />
          <Select aria-label="Select">
            <option>fixer</option>
            <option>reporter</option>
          </Select>
          <SegmentedControl
            label="Segmented control"
            value={span}
            options={spans}
            onChange={setSpan}
          />
        </div>
        <TextArea aria-label="Longer text" placeholder="Longer text" />
        <div className="flex gap-4 text-muted">
          <RelativeTime at={new Date(Date.now() - 90_000).toISOString()} />
          <Duration seconds={185} />
          <Money usd={0.0042} />
        </div>
        <CodeBlock label="Command" text="herdctl open" />
        <Markdown text={sample} />
        <Dialog open={isOpen} onOpenChange={setOpen} title="Dialog" note="Press Escape to close.">
          <Button onClick={() => setOpen(false)}>Close</Button>
        </Dialog>
      </div>
    </Panel>
  );
}
