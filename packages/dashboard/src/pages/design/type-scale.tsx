import { Panel } from "../../ui/panel.tsx";

const sizes = [
  { name: "xl 22/28", look: "text-xl font-semibold" },
  { name: "lg 18/24", look: "text-lg font-semibold" },
  { name: "md 15/20", look: "text-md font-semibold" },
  { name: "base 13/20", look: "text-base" },
  { name: "sm 12/16", look: "text-sm" },
  { name: "xs 11/16", look: "text-xs" },
  { name: "mono 12/16", look: "font-mono text-sm" },
];

export function TypeScale() {
  return (
    <Panel title="Typography" aside="System fonts, tabular digits, 4 px grid">
      <dl className="flex flex-col gap-1.5">
        {sizes.map(({ name, look }) => (
          <div key={name} className="flex items-baseline gap-4">
            <dt className="w-24 shrink-0 text-sm text-muted">{name}</dt>
            <dd className={look}>12 agents running, 0.42 s each</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
