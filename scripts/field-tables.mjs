import { markdownTable } from "./markdown-table.mjs";

/** Renders a JSON Schema as Markdown: a table of its fields, then one for each variant of a union. */
export function fieldTables(schema, { withTrust = false } = {}) {
  const page = { rows: [], forms: [], printed: new Map(), withTrust };
  addFields(page, "", schema);
  return [table(page), ...page.forms].join("\n\n");
}

function addFields(page, path, schema) {
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    const name = path === "" ? key : `${path}.${key}`;
    const content = withoutVariable(field);
    page.rows.push(row(name, content, schema.required?.includes(key)));
    const inner = blockWithin(name, content);
    if (inner) addForms(page, inner);
  }
}

/** The object that a field, its items or its entries contain, with all its variants. */
function blockWithin(name, field) {
  const entries = field.additionalProperties;
  if (typeof entries === "object") return blockWithin(`${name}.<name>`, withoutVariable(entries));
  if (field.items) return blockWithin(`${name}[]`, withoutVariable(field.items));
  const forms = optionsOf(field).filter((form) => form.properties);
  return forms.length > 0 ? { name, forms } : undefined;
}

function addForms(page, { name, forms }) {
  const [only, ...others] = forms;
  if (others.length === 0) return addFields(page, name, only);
  const earlier = page.printed.get(JSON.stringify(forms));
  if (earlier) {
    page.forms.push(`### \`${name}\`\n\nThe same variants as \`${earlier}\`.`);
    return;
  }
  page.printed.set(JSON.stringify(forms), name);
  const isShared = (key) => forms.every((form) => same(form.properties[key], only.properties[key]));
  const shared = Object.keys(only.properties).filter(isShared);
  if (shared.length > 0) addSection(page, `\`${name}\`: all variants`, name, only, shared);
  for (const form of forms) {
    const own = Object.keys(form.properties).filter((key) => !shared.includes(key));
    addSection(page, `\`${name}\` ${titleOf(form)}`, name, form, own);
  }
}

function addSection(page, title, name, form, keys) {
  const properties = Object.fromEntries(keys.map((key) => [key, form.properties[key]]));
  const section = { ...page, rows: [], forms: [] };
  addFields(section, name, { ...form, properties });
  page.forms.push(`### ${title}\n\n${table(section)}`, ...section.forms);
}

function titleOf(form) {
  const constant = Object.entries(form.properties).find(([, field]) => "const" in field);
  if (constant) return `with \`${constant[0]}: ${constant[1].const}\``;
  return `with \`${form.required[0]}\``;
}

function row(name, field, required) {
  const isBlock = field.properties !== undefined;
  const defaultText = field.default === undefined || isBlock ? "" : code(field.default);
  const trust = field.trust ?? "";
  return [
    `\`${name}\``,
    formOf(field),
    required ? "required" : defaultText,
    trust,
    field.description ?? "",
  ];
}

const formNames = {
  string: () => "text",
  boolean: () => "`true` or `false`",
  integer: (field) => `whole number${range(field)}`,
  number: (field) => `number${range(field)}`,
  array: (field) => `list of ${plural(formOf(withoutVariable(field.items ?? {})))}`,
  object: ({ additionalProperties: entries }) =>
    entries?.type || entries?.anyOf || entries?.oneOf
      ? `block of names, each a ${formOf(withoutVariable(entries))}`
      : "block",
};

function formOf(field) {
  // A text that may also be written as a number or a boolean.
  if (field.title) return field.title;
  const options = optionsOf(field);
  if (options.length > 1) return [...new Set(options.map(formOf))].join(" or ");
  if ("const" in field) return code(field.const);
  if (field.enum) return field.enum.map(code).join(" · ");
  if (field.examples) return `text such as ${field.examples.map(code).join(", ")}`;
  if (field.$ref) return "block of an agent's fields";
  return formNames[field.type]?.(field) ?? "anything";
}

function range({ minimum, exclusiveMinimum, maximum }) {
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum !== undefined && most !== undefined) return `, ${minimum} to ${most}`;
  const least = exclusiveMinimum === undefined ? "" : `, more than ${exclusiveMinimum}`;
  return most === undefined ? least : `${least}, at most ${most}`;
}

function plural(form) {
  return form.replaceAll(/\b(text|block)\b/g, "$1s");
}

/** Removes the variant `${VARIABLE}`, which all numbers and booleans accept, from the table. */
function withoutVariable(field) {
  if (field.title) return field;
  if (!field.anyOf) return field;
  const options = field.anyOf.filter((option) => option.pattern !== "\\$\\{");
  return options.length === 1 ? { ...field, anyOf: undefined, ...options[0] } : field;
}

function optionsOf(field) {
  return field.anyOf ?? field.oneOf ?? [field];
}

function same(a, b) {
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

function code(value) {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

const heads = ["Field", "Type", "Default", "Trust", "Description"];

function table({ rows, withTrust }) {
  const isShown = (_, index) => withTrust || heads[index] !== "Trust";
  return markdownTable(
    heads.filter(isShown),
    rows.map((cells) => cells.filter(isShown)),
  );
}
