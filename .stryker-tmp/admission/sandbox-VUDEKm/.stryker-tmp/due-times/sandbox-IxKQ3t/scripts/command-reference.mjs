import { markdownTable } from "./markdown-table.mjs";

const jsonOption = { flags: "--json", summary: "Print JSON only" };

/** One section per help group, with one subsection per command. */
export function commandSections(commands, helpGroups) {
  return Object.entries(helpGroups)
    .map(([heading, names]) => {
      const members = names.flatMap((name) => commands.filter((one) => firstWord(one) === name));
      return [`## ${heading}`, ...members.map(section)].join("\n\n");
    })
    .join("\n\n");
}

function firstWord({ name }) {
  return name.split(" ")[0];
}

function section(command) {
  const { name, summary, arguments: args = [], options = [], examples } = command;
  const parts = [
    `### \`herdctl ${name}\``,
    `${summary}.`,
    fenced("", [`herdctl ${[name, ...args.map(usageTerm), "[options]"].join(" ")}`]),
  ];
  if (args.length > 0)
    parts.push(markdownTable(["Argument", "Description"], args.map(argumentRow)));
  parts.push(
    markdownTable(["Option", "Default", "Description"], [...options, jsonOption].map(optionRow)),
    `Examples:\n\n${fenced("sh", examples)}`,
  );
  return parts.join("\n\n");
}

function usageTerm({ name, optional }) {
  return optional ? `[${name}]` : `<${name}>`;
}

function argumentRow({ name, summary, optional }) {
  return [`\`${name}\``, `${summary}${optional ? " (optional)" : ""}`];
}

function optionRow({ flags, summary }) {
  const [, text = summary, defaultText = ""] = /^(.*) \(default: (.*)\)$/.exec(summary) ?? [];
  const isLiteral = defaultText !== "" && !defaultText.includes(" ");
  return [`\`${flags}\``, isLiteral ? `\`${defaultText}\`` : defaultText, text];
}

function fenced(language, lines) {
  return `\`\`\`${language}\n${lines.join("\n")}\n\`\`\``;
}
