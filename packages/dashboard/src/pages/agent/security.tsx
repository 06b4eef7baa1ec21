import type { ShownValue } from "@herdctl/server/contract";
import { Panel } from "../../ui/panel.tsx";
import { WithCode } from "../../ui/with-code.tsx";
import { type Posture, postureOf } from "./posture.ts";
import type { Statement } from "./statement.ts";

const questions: { key: keyof Posture; title: string }[] = [
  { key: "runs", title: "Where it runs" },
  { key: "reaches", title: "What it can reach" },
  { key: "touches", title: "What it can touch" },
  { key: "triggers", title: "Who can trigger it" },
];

const weights: Record<Statement["weight"], { word: string; look: string }> = {
  tight: { word: "tight", look: "bg-ok-soft text-ok" },
  plain: { word: "noted", look: "bg-idle-soft text-idle" },
  open: { word: "open", look: "bg-warn-soft text-warn" },
};

export function Security({ values }: { values: ShownValue[] }) {
  const posture = postureOf(values);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {questions.map(({ key, title }) => (
        <Panel key={key} title={title}>
          <ul className="flex flex-col gap-2">
            {posture[key].map((statement) => (
              <Line key={statement.text} {...statement} />
            ))}
          </ul>
        </Panel>
      ))}
    </div>
  );
}

function Line({ text, weight }: Statement) {
  const { word, look } = weights[weight];
  return (
    <li className="flex items-start gap-3">
      <span className={`w-14 shrink-0 rounded-sm py-0.5 text-center text-sm font-medium ${look}`}>
        {word}
      </span>
      <span className="wrap-anywhere">
        <WithCode text={text} />
      </span>
    </li>
  );
}
