import { explanations } from "./explanations.mjs";
import { amount, times, verdictOf } from "./show.mjs";

/** The page about speed, from what was measured. */
export function speedPage({ machine, rows }) {
  const bounds = rows.filter(({ held }) => held !== undefined);
  const missed = bounds.filter(({ held }) => !held);
  const groups = [...new Set(rows.map(({ group }) => group))];
  return `# Speed

Made from [speed.json](speed.json), which \`npm run bench\` writes; do not edit it by hand.

${bounds.length - missed.length} of ${bounds.length} bounds are held. Measured on ${machineOf(machine)}, ${whenOf(rows)}.
${warningsOf(machine, rows)}
![Curves of growth: the store with up to 100,000 finished jobs, fleets with up to 1,000 agents](../pictures/growth.svg)

${groups.map((group) => section(group, rows)).join("\n")}
## Bounds that are missed

${missedText(missed)}

## How it is measured

\`npm run bench\` measures all of it, \`npm run bench -- oneTurn store\` some of it; \`--quick\` takes two samples of each and shows only that the measuring works. What is measured anew replaces what this page knew of it, and the rest stays, with its date and commit in \`speed.json\`.

- **Beside something bare.** Each figure stands beside the same thing without us, measured in turns with it in the same run, so that a busy moment hits both; each round begins with another one, and the first round only warms up. The ratio is of the medians. Absolute times say as much about the machine as about us.
- **Real parts.** The built program, the real \`claude\`, a real Docker engine, a real browser. The model is a [rehearsal](../rehearsal.md) on loopback that answers at once, so what is left is our time and that of \`claude\`. Chat platforms are stand-ins on loopback.
- **At rest.** After a job a fleet makes its next spare process or container. Samples of one turn are taken after that: a second later, 1.8 s where \`claude\` itself is started ahead, with containers 3 s. A fleet that works without a break has no such pauses.
- **Growth.** The jobs of the large stores are copies of one finished job, spread over 25 days and ten agents. Agents of the large fleets have two schedules each, not due. At the socket a client asks that is connected already; with a command the start of Node comes on top.
- **Deliveries** are signed as GitHub signs and sent by 16 senders that wait for their answers; each is a durable job before it is answered. The bare server looks at the signature and keeps nothing.
- **Idle** is the share of one processor of the fleet process and its spare, over ten seconds at a time.
- **Sizes on disk** are those of the files of the packages that an install brings on this platform; ours as published.
- **Commands** that wait for something (\`start\`, \`top\`, \`rehearse\`) or act on what must be there first are not timed one by one: they start as these do.

The bounds are those that were set before anything was measured. A bound is on the median unless it says otherwise.
`;
}

function machineOf({ system, cores, memory_gb: memory, node, claude }) {
  return `${cores} cores and ${memory} GB (${system}), Node ${node}, claude ${claude}`;
}

function whenOf(rows) {
  const all = [...new Set(rows.map(({ date, commit }) => `${date} at \`${commit}\``))];
  return all.length === 1 ? all[0] : `from ${all.join(", ")}`;
}

/** What keeps the figures from being what they seem. */
function warningsOf({ cores }, rows) {
  const busiest = Math.max(...rows.map(({ load }) => load));
  const isBusy = busiest > cores;
  const isQuick = rows.some(({ quick }) => quick);
  return [
    isBusy &&
      `\n**The machine was busy with other things** (a load of up to ${busiest} on ${cores} cores when measuring began): times, and verdicts on them, mean little here.\n`,
    isQuick && "\n**Some of it was measured with `--quick`**: two samples each.\n",
  ]
    .filter(Boolean)
    .join("");
}

function section(group, rows) {
  return `## ${group}

| | median | p95 | beside | median | ratio | bound | |
|---|--:|--:|---|--:|--:|---|---|
${rows
  .filter((row) => row.group === group)
  .map(line)
  .join("\n")}
`;
}

function line(row) {
  const { what, unit, value, p95, beside, ratio, bound = "" } = row;
  const cells = [
    what,
    amount(value, unit),
    amount(p95, unit),
    beside?.what ?? "",
    amount(beside?.value, unit),
    times(ratio),
    bound,
    row.held === false ? "**missed**" : verdictOf(row),
  ];
  return `| ${cells.join(" | ")} |`;
}

function missedText(missed) {
  if (missed.length === 0) return "None, in this measurement.";
  return missed
    .map(({ what, bound, found, unit }) => {
      const measured = bound.startsWith("ratio") ? times(found) : amount(found, unit);
      const why = explanations[what] ?? "Not explained yet.";
      return `- **${what}**: ${measured}, bound ${bound}. ${why}`;
    })
    .join("\n");
}
