import type { ConfigValueView } from "@herdctl/server/contract";
import { Panel } from "../../ui/panel.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { describePosture, type Posture } from "./posture.ts";
import type { PostureStatement } from "./posture-statement.ts";

const sections: { key: keyof Posture; title: string }[] = [
  { key: "runs", title: "Where it runs" },
  { key: "reaches", title: "What it can reach" },
  { key: "touches", title: "What it can do" },
  { key: "triggers", title: "Triggers" },
];

const weightStyles: Record<PostureStatement["weight"], { label: string; look: string }> = {
  tight: { label: "Restricted", look: "bg-ok-soft text-ok" },
  plain: { label: "Info", look: "bg-idle-soft text-idle" },
  open: { label: "Open", look: "bg-warn-soft text-warn" },
};

export function Security({ agent, values }: { agent: string; values: ConfigValueView[] }) {
  const posture = describePosture(values);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <p className="text-muted lg:col-span-2">
        <TextWithCode
          text={`This describes the configuration. \`herdctl doctor ${agent}\` also looks at files and other agents, and warns if untrusted input, secrets and a way out come together.`}
        />
      </p>
      {sections.map(({ key, title }) => (
        <Panel key={key} title={title}>
          <ul className="flex flex-col gap-2">
            {posture[key].map((statement) => (
              <StatementLine key={statement.text} {...statement} />
            ))}
          </ul>
        </Panel>
      ))}
    </div>
  );
}

function StatementLine({ text, weight }: PostureStatement) {
  const { label, look } = weightStyles[weight];
  return (
    <li className="flex items-start gap-3">
      <span className={`w-20 shrink-0 rounded-sm py-0.5 text-center text-sm font-medium ${look}`}>
        {label}
      </span>
      <span className="wrap-anywhere">
        <TextWithCode text={text} />
      </span>
    </li>
  );
}
