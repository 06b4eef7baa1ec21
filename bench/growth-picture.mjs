import { amount } from "./show.mjs";

const panel = { width: 400, height: 190, left: 62, top: 58 };
const gap = { x: 80, y: 104 };
const panels = [
  {
    title: "Asked at the socket",
    over: "finished jobs",
    of: ["list of jobs", "status", "page from the middle"],
  },
  {
    title: "Until a fleet answers, and reading its files anew",
    over: "agents",
    of: ["start of a fleet", "reload"],
  },
  { title: "Memory of the fleet process", over: "agents", of: ["memory of the fleet process"] },
  { title: "Idle, share of one processor", over: "agents", of: ["idle"], bound: 1 },
];
const [width, height] = [
  2 * panel.width + panel.left + gap.x + 60,
  2 * panel.height + panel.top + gap.y + 70,
];

/** How times, memory and rest grow with jobs and agents, as curves. */
export function growthPicture(rows) {
  const drawn = panels.map((one, index) => {
    const x = panel.left + (index % 2) * (panel.width + gap.x);
    const y = panel.top + Math.floor(index / 2) * (panel.height + gap.y);
    return `<g transform="translate(${x} ${y})">\n${drawPanel(one, rows)}\n  </g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
  <title id="title">How it grows</title>
  <desc id="description">${panels.map((one) => description(one, rows)).join(" ")}</desc>
${style}
  <rect class="paper" width="${width}" height="${height}" rx="12"/>
  ${drawn.join("\n  ")}
</svg>
`;
}

/** Points of each curve of a panel, from the rows that tell of growth. */
function curvesOf({ of }, rows) {
  return of
    .map((name) => {
      const own = rows.filter(({ growth }) => growth?.of === name);
      const [first] = own;
      if (first === undefined) return { name, points: [] };
      const points = [
        [first.growth.from, first.beside.value],
        ...own.map(({ growth, value }) => [growth.at, value]),
      ];
      return { name, unit: first.unit, points };
    })
    .filter(({ points }) => points.length > 0);
}

function drawPanel(one, rows) {
  const curves = curvesOf(one, rows);
  const name = `    <text class="name" x="0" y="-30">${one.title}</text>`;
  if (curves.length === 0)
    return `${name}\n    <text class="line" x="0" y="20">not measured</text>`;
  const xs = [...new Set(curves.flatMap(({ points }) => points.map(([x]) => x)))];
  const highest = Math.max(
    one.bound ?? 0,
    ...curves.flatMap(({ points }) => points.map(([, y]) => y)),
  );
  const [{ unit }] = curves;
  const scale = scaleOf(xs, stepsOf(highest));
  const bound = one.bound === undefined ? [] : drawBound(one.bound, unit, scale);
  const drawn = curves.map((curve, index) => drawCurve(curve, index, scale));
  return [name, ...axes(xs, unit, one.over, scale), ...bound, ...drawn, legend(curves)].join("\n");
}

/** About four round steps from nothing to beyond the highest value. */
function stepsOf(highest) {
  const rough = Math.max(highest, 1e-3) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const count = Math.ceil((highest * 1.02) / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

function scaleOf(xs, steps) {
  const [low, high] = [Math.min(...xs), Math.max(...xs)].map(Math.log10);
  const top = steps.at(-1);
  return {
    steps,
    x: (value) => fixed(((Math.log10(value) - low) / (high - low)) * panel.width),
    y: (value) => fixed(panel.height - (value / top) * panel.height),
  };
}

function axes(xs, unit, over, { steps, x, y }) {
  const label = (value) => `${Number(value.toPrecision(3)).toLocaleString("en")} ${unit}`;
  return [
    ...steps.map((value) => `    <path class="grid" d="M0 ${y(value)}H${panel.width}"/>`),
    ...steps.map(
      (value) =>
        `    <text class="line side" x="-8" y="${fixed(y(value) + 4)}">${label(value)}</text>`,
    ),
    ...xs.map(
      (value) =>
        `    <text class="line below" x="${x(value)}" y="${panel.height + 18}">${value.toLocaleString("en")}</text>`,
    ),
    `    <text class="line below" x="${panel.width / 2}" y="${panel.height + 36}">${over} (logarithmic axis)</text>`,
  ];
}

function drawBound(value, unit, { y }) {
  return [
    `    <path class="bound" d="M0 ${y(value)}H${panel.width}"/>`,
    `    <text class="line warn" x="${panel.width}" y="${fixed(y(value) - 6)}">bound with 500 agents: ${value} ${unit}</text>`,
  ];
}

function drawCurve({ points }, index, { x, y }) {
  const path = points.map(([at, value]) => `${x(at)} ${y(value)}`).join("L");
  const dots = points.map(
    ([at, value]) => `<circle class="dot c${index}" cx="${x(at)}" cy="${y(value)}" r="4"/>`,
  );
  return `    <path class="curve c${index}" d="M${path}"/>${dots.join("")}`;
}

/** Above the plot, on the right of its title's line below it. */
function legend(curves) {
  if (curves.length < 2) return "";
  let x = 0;
  return curves
    .map(({ name }, index) => {
      const at = x;
      x += 34 + name.length * 6.6;
      return `    <path class="curve c${index}" d="M${fixed(at)} -11h18"/><text class="line" x="${fixed(at + 23)}" y="-7">${name}</text>`;
    })
    .join("\n");
}

function description(one, rows) {
  const told = curvesOf(one, rows).map(({ name, unit, points }) => {
    const values = points.map(
      ([at, value]) => `${amount(value, unit)} with ${at.toLocaleString("en")}`,
    );
    return `${name}: ${values.join(", ")} ${one.over}.`;
  });
  return told.join(" ");
}

const fixed = (value) => Number(value.toFixed(1));

const style = `  <style>
    .paper { fill: #ffffff; }
    .grid { stroke: #dfe5ec; stroke-width: 1; }
    .curve { fill: none; stroke-width: 2.25; }
    .dot { stroke: #ffffff; stroke-width: 1.5; }
    .c0 { stroke: #2563c9; } .dot.c0 { fill: #2563c9; stroke: #ffffff; }
    .c1 { stroke: #b4540a; } .dot.c1 { fill: #b4540a; stroke: #ffffff; }
    .c2 { stroke: #2c8a57; } .dot.c2 { fill: #2c8a57; stroke: #ffffff; }
    .bound { stroke: #b42318; stroke-width: 1.5; stroke-dasharray: 5 4; }
    .name { font-weight: 600; font-size: 15px; fill: #1b2430; }
    .line { font-size: 12px; fill: #48566a; }
    .side, .warn { text-anchor: end; }
    .below { text-anchor: middle; }
    .warn { fill: #b42318; }
    text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #12171e; }
      .grid { stroke: #2a3442; }
      .c0 { stroke: #7fb0ff; } .dot.c0 { fill: #7fb0ff; stroke: #12171e; }
      .c1 { stroke: #f0a35e; } .dot.c1 { fill: #f0a35e; stroke: #12171e; }
      .c2 { stroke: #4fbf86; } .dot.c2 { fill: #4fbf86; stroke: #12171e; }
      .bound { stroke: #ff8a80; }
      .name { fill: #eef2f7; }
      .line { fill: #b4c0cf; }
      .warn { fill: #ff8a80; }
    }
  </style>`;
