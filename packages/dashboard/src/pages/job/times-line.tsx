import type { Share, Times } from "../../job/times.ts";
import { classNames } from "../../ui/class-names.ts";
import { durationWords } from "../../ui/quantities.ts";

const shares: { share: Share; word: string; colour: string }[] = [
  { share: "api", word: "API", colour: "bg-series-2" },
  { share: "tool", word: "tools", colour: "bg-series-1" },
  { share: "wait", word: "waiting", colour: "bg-wait" },
  { share: "retry", word: "retries", colour: "bg-warn" },
  { share: "start", word: "start", colour: "bg-idle" },
  { share: "queue", word: "queue", colour: "bg-line-strong" },
  { share: "other", word: "other", colour: "bg-idle-soft" },
];

/** Where the time went, as one line. */
export function TimesLine({ times }: { times: Times }) {
  const whole = Object.values(times).reduce((sum, one) => sum + one);
  const shown = shares.filter(({ share }) => times[share] >= 1);
  if (whole <= 0) return null;
  return (
    <div className="text-sm">
      <div aria-hidden className="flex h-1.5 overflow-hidden rounded-full bg-idle-soft">
        {shown.map(({ share, colour }) => (
          <span
            key={share}
            className={colour}
            style={{ width: `${(times[share] / whole) * 100}%` }}
          />
        ))}
      </div>
      <ul aria-label="Where the time went" className="mt-1 flex flex-wrap gap-x-3 text-muted">
        {shown.map(({ share, word, colour }) => (
          <li key={share} className="flex items-center gap-1">
            <span
              aria-hidden
              className={classNames("size-2 rounded-sm border border-line", colour)}
            />
            {word} {durationWords(times[share] / 1000)}
          </li>
        ))}
      </ul>
    </div>
  );
}
