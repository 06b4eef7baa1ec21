import { markdownTable } from "./markdown-table.mjs";

const shared = { flags: "--json", summary: "print JSON only" };

/** Every command with what it takes, the groups in the order of the table. */
export function commandSections(commands) {
  return commands.map(section).join("\n\n");
}

function section(command) {
  const { name, summary, arguments: given = [], options = [], examples = [] } = command;
  const parts = [
    `## \`herdctl ${name}\``,
    `${summary}.`,
    fenced("", [`herdctl ${[name, ...given.map(placeOf), "[options]"].join(" ")}`]),
  ];
  if (given.length > 0) parts.push(markdownTable(["Argument", "What it is"], given.map(argument)));
  parts.push(
    markdownTable(["Option", "Default", "What it does"], [...options, shared].map(option)),
  );
  if (examples.length > 0) parts.push(`For example:\n\n${fenced("sh", examples)}`);
  return parts.join("\n\n");
}

function placeOf({ name, optional }) {
  return optional ? `[${name}]` : `<${name}>`;
}

function argument({ name, summary, optional }) {
  return [`\`${name}\``, `${summary}${optional ? "; can be left out" : ""}`];
}

function option({ flags, summary }) {
  const [, text = summary, unsaid = ""] = /^(.*) \(default: (.*)\)$/.exec(summary) ?? [];
  return [`\`${flags}\``, unsaid === "" ? "" : `\`${unsaid}\``, text];
}

function fenced(language, lines) {
  return `\`\`\`${language}\n${lines.join("\n")}\n\`\`\``;
}
