/** Splits a page into its title, without code marks, and the rest. */
export function titled(text) {
  const [, title = "", body = ""] = /^# (.+)\n([\s\S]*)$/.exec(text) ?? [];
  if (title === "") throw new Error("the page does not begin with `# Title`");
  return { title: title.replaceAll("`", ""), body: body.trimStart() };
}

/** Matches code, to skip it, and link targets. The text of a link can contain code. */
const codeOrTarget = /^(`{3,})[\s\S]*?^\1|`[^`\n]+`|\]\(([^()\s]+)\)/gm;

/** Replaces the target of each link and picture. */
export function withTargets(text, replace) {
  return text.replaceAll(codeOrTarget, (whole, _fence, target) =>
    target === undefined ? whole : `](${replace(target)})`,
  );
}

/** The targets of all links and pictures. */
export function targetsOf(text) {
  return [...text.matchAll(codeOrTarget)].flatMap(([, , target]) => target ?? []);
}

/** The headings below the title, as plain text. */
export function headingsOf(text) {
  const prose = text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, "");
  return [...prose.matchAll(/^#{2,6} (.+)$/gm)].map(([, heading]) =>
    heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, ""),
  );
}
