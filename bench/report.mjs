// Renders the results for the terminal and for docs/proof/speed.md.

const columns = [
  { title: "", width: 42, isText: true },
  { title: "median", width: 12 },
  { title: "p95", width: 12 },
  { title: "  baseline", width: 28, isText: true },
  { title: "median", width: 12 },
  { title: "ratio", width: 8 },
  { title: "  bound", width: 23, isText: true },
  { title: "", width: 8, isText: true },
];

export function printHead() {
  print(columns.map(({ title }) => title));
}

export function printRow(row) {
  const cells = rowCells(row);
  print(cells.map((cell, index) => (index > 0 && columns[index].isText ? `  ${cell}` : cell)));
}

function print(cells) {
  const padded = cells.map((cell, index) => {
    const { width, isText } = columns[index];
    return isText ? cell.padEnd(width) : cell.padStart(width);
  });
  process.stdout.write(`${padded.join("").trimEnd()}\n`);
}

function rowCells({ name, unit, median, p95, baseline, ratio, bound, held }) {
  return [
    name,
    amount(median, unit),
    amount(p95, unit),
    baseline.name,
    amount(baseline.median, unit),
    ratio === undefined ? "" : `${ratio.toFixed(2)}×`,
    bound,
    held ? "held" : "missed",
  ];
}

function amount(value, unit) {
  const digits = Math.abs(value) < 10 ? 1 : 0;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${value.toLocaleString("en", format)} ${unit}`;
}

/** The generated pages by path. */
export function speedPages({ machine, rows }) {
  const held = rows.filter((row) => row.held);
  return {
    "docs/proof/speed.md": `# Speed

See how long herdctl takes compared with \`claude\` and other baselines. This page is generated from [speed.json](speed.json), which \`npm run bench\` writes; do not edit it by hand.

${held.length} of ${rows.length} bounds are held. Measured on ${machine.cores} cores and ${machine.memory_gb} GB (${machine.system}), Node ${machine.node}, claude ${machine.claude}, ${sourcesOf(rows)}.
${warningsOf(machine, rows)}
| | median | p95 | baseline | median | ratio | bound | |
|---|--:|--:|---|--:|--:|---|---|
${rows.map((row) => `| ${rowCells(row).join(" | ")} |`).join("\n")}

A bound applies to the median of the samples unless it names the ratio, the p95, or the time \`added\` to the median of the baseline.

## How it is measured

\`npm run bench\` runs all measurements, \`npm run bench -- job-list webhooks\` only the named ones. New rows replace the old ones of the same measurement; the others keep their date and commit in \`speed.json\`. \`--quick\` takes two samples of each, to verify that the measurements run.

- **Baseline.** Each row has a baseline that is measured in the same run, in alternation or concurrently, so that a busy moment of the machine affects both. The first round warms up and is not counted. The ratio is that of the medians. Absolute times depend on the machine; ratios less so.
- **Real parts.** The built program, the real \`claude\`, a real Docker engine and a real browser. The model is a [rehearsal](../guides/rehearsal.md) on loopback that answers immediately, so the measured time is spent in herdctl and \`claude\`.
- **Jobs.** After a job the fleet starts the next idle runner. Each sample starts after that: 1 s after the last one, 1.8 s with pre-started processes and in chats, 3 s with containers.
- **Job list.** The 100,000 jobs are copies of one finished job, spread over 25 days and ten agents. The client is already connected.
- **Fleets.** Each agent has two schedules that are not due. *Idle* is the share of one processor that the fleet process and its idle runners use, over 10 s.
- **Webhooks** are signed like those of GitHub and sent by 16 concurrent senders. The fleet answers each after the job is durable. The bare server checks the signature and stores nothing.
- **Messages** go through the executor of the runner into the log of the job.
- **Events** are the messages of a running job; the time runs from the timestamp of a message to its arrival in the page.
`,
  };
}

function sourcesOf(rows) {
  const sources = new Set(rows.map(({ date, commit }) => `${date} at \`${commit}\``));
  return [...sources].join(", ");
}

function warningsOf({ cores }, rows) {
  const load = Math.max(...rows.map((row) => row.load));
  return [
    load > cores &&
      `\n**The machine was busy with other work** (a load of up to ${load} on ${cores} cores when the measurements started): these figures are not reliable.\n`,
    rows.some(({ quick }) => quick) &&
      "\n**Some rows were measured with `--quick`**: two samples each.\n",
  ]
    .filter(Boolean)
    .join("");
}
