import { markdownTable } from "./markdown-table.mjs";

/** The routes of an OpenAPI document as a Markdown table. */
export function routeTable(document) {
  const { paths } = inlineSchemas(document);
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => row(method, path, operation)),
  );
  return markdownTable(["Request", "Scope", "Fields", "Response", "Description"], rows);
}

/** The event types with their fields. */
export function eventTable(document) {
  const { schema } =
    inlineSchemas(document).paths["/v1/events"].get.responses[200].content["text/event-stream"];
  const rows = schema.anyOf.map(({ properties: { type, ...fields } }) => [
    `\`${type.enum[0]}\``,
    Object.entries(fields)
      .map(([name, field]) => `\`${name}\` ${shape(field)}`)
      .join("<br>"),
  ]);
  return markdownTable(["Event", "Fields"], rows);
}

function row(method, path, operation) {
  const call = `\`${method.toUpperCase()} ${path}\``;
  return [call, operation["x-scope"], takes(operation), gives(operation), operation.description];
}

function takes({ parameters = [], requestBody }) {
  const query = parameters.filter((parameter) => parameter.in === "query");
  const body = requestBody?.content["application/json"].schema;
  const fields = [
    ...query.map(({ name, required, schema }) => field(`?${name}`, schema, required)),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) =>
      field(name, schema, body.required?.includes(name)),
    ),
  ];
  return fields.join("<br>");
}

function field(name, schema, required) {
  const defaultText = schema.default === undefined ? "" : `, default \`${schema.default}\``;
  return `\`${name}\` ${form(schema)}${required ? ", required" : defaultText}`;
}

function form(schema) {
  if (schema.enum) return schema.enum.length > 8 ? "a code" : schema.enum.join("/");
  if (schema.format === "date-time") return "time";
  return { string: "text", integer: "whole number", number: "number", boolean: "true/false" }[
    [schema.type].flat()[0]
  ];
}

function gives({ responses }) {
  const content = responses[200]?.content;
  if (!content) return "nothing (204)";
  const [[type, { schema }]] = Object.entries(content);
  const isStream = type !== "application/json";
  return isStream ? `a stream of ${shape(schema)}` : shape(schema);
}

/** The title of the schema, or its structure. */
function shape(schema) {
  if (schema.title) return `\`${schema.title}\``;
  if (schema.anyOf) return schema.anyOf.map(shape).join(" and ");
  if (schema.type === "array") return `\`${bare(schema.items)}[]\``;
  if (!schema.properties) return `\`${[schema.type].flat().join(" or ")}\``;
  const inside = Object.entries(schema.properties).map(
    ([name, inner]) => `${name}: ${bare(inner)}`,
  );
  return `\`{ ${inside.join(", ")} }\``;
}

function bare(schema) {
  if ("enum" in schema) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  return shape(schema).replaceAll("`", "");
}

/** The document with each reference replaced by its schema, which gets the name as its title. */
function inlineSchemas(document) {
  const inline = (value) => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== "object" || value === null) return value;
    if (value.$ref === undefined)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inline(item)]));
    const title = value.$ref.split("/").at(-1);
    return { title, ...inline(document.components.schemas[title]) };
  };
  return { ...document, paths: inline(document.paths) };
}
