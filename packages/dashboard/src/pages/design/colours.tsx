import { Panel } from "../../ui/panel.tsx";

const grounds = [
  { name: "bg", look: "bg-bg" },
  { name: "surface", look: "bg-surface" },
  { name: "sunken", look: "bg-sunken" },
  { name: "hover", look: "bg-hover" },
  { name: "line", look: "bg-line" },
  { name: "line-strong", look: "bg-line-strong" },
  { name: "muted", look: "bg-muted" },
  { name: "text", look: "bg-text" },
  { name: "accent", look: "bg-accent" },
  { name: "focus", look: "bg-focus" },
];

const tones = [
  { name: "ok", means: "Done", strong: "bg-ok", soft: "bg-ok-soft text-ok" },
  { name: "warn", means: "Needs attention", strong: "bg-warn", soft: "bg-warn-soft text-warn" },
  { name: "bad", means: "Failed", strong: "bg-bad", soft: "bg-bad-soft text-bad" },
  { name: "live", means: "Running", strong: "bg-live", soft: "bg-live-soft text-live" },
  { name: "wait", means: "Waits for a person", strong: "bg-wait", soft: "bg-wait-soft text-wait" },
  { name: "idle", means: "Neutral", strong: "bg-idle", soft: "bg-idle-soft text-idle" },
];

export function Colours() {
  return (
    <Panel title="Colours" aside="From tokens.css, for the light and the dark theme">
      <ul className="grid grid-cols-2 gap-2 sm:grid-cols-5">
        {grounds.map(({ name, look }) => (
          <li key={name}>
            <div className={`h-10 rounded border border-line ${look}`} />
            <span className="text-sm text-muted">{name}</span>
          </li>
        ))}
      </ul>
      <ul className="mt-4 grid grid-cols-2 gap-2 sm:grid-cols-6">
        {tones.map(({ name, means, strong, soft }) => (
          <li key={name} className="overflow-hidden rounded border border-line">
            <div className={`h-3 ${strong}`} />
            <div className={`px-2 py-1.5 ${soft}`}>
              <div className="font-medium">{name}</div>
              <div className="text-sm">{means}</div>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
