/** A page without its first heading, which is its title; code in the title is plain there. */
export function titled(text) {
  const [, title = "", body = ""] = /^# (.+)\n([\s\S]*)$/.exec(text) ?? [];
  if (title === "") throw new Error("a page must begin with `# Title`");
  return { title: title.replaceAll("`", ""), body: body.trimStart() };
}

/** Code is passed over; the text of a link may hold code, so only what follows it is looked at. */
const codeOrTarget = /^(`{3,})[\s\S]*?^\1|`[^`\n]+`|\]\(([^()\s]+)\)/gm;

/** The page with each target of a link or picture replaced. */
export function withTargets(text, replace) {
  return text.replaceAll(codeOrTarget, (whole, _fence, target) =>
    target === undefined ? whole : `](${replace(target)})`,
  );
}

/** Where the links and pictures of a page lead. */
export function targetsOf(text) {
  return [...text.matchAll(codeOrTarget)].flatMap(([, , target]) => target ?? []);
}

/** The headings below the title, as they are read. */
export function headingsOf(text) {
  const prose = text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, "");
  return [...prose.matchAll(/^#{2,6} (.+)$/gm)].map(([, heading]) =>
    heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, ""),
  );
}
