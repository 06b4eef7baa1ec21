/**
 * Writes the types of Claude Code's settings as a JSON Schema, from the type declarations of the Agent
 * SDK. With `--check`, only reports whether the file is up to date.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");
const output = join(root, "packages/config/src/claude-settings/settings-schema.json");

/** @returns {Record<string, unknown>} */
export function buildSettingsSchema() {
  const require = createRequire(join(root, "packages/core/package.json"));
  const declarations = join(dirname(require.resolve("@anthropic-ai/claude-agent-sdk")), "sdk.d.ts");
  return settingsSchemaOf(readFileSync(declarations, "utf8"));
}

/** @param {string} declarations */
export function settingsSchemaOf(declarations) {
  const file = ts.createSourceFile("sdk.d.ts", declarations, ts.ScriptTarget.Latest, true);
  const settings = file.statements.find(
    (one) => ts.isInterfaceDeclaration(one) && one.name.text === "Settings",
  );
  if (!settings || !ts.isInterfaceDeclaration(settings))
    throw new Error("the declarations have no interface `Settings`");
  return objectSchema(settings.members, 0);
}

/** Deeper parts are only checked for their kind. */
const maxDepth = 4;

/**
 * @param {ts.NodeArray<ts.TypeElement>} members
 * @param {number} depth
 */
function objectSchema(members, depth) {
  if (depth >= maxDepth) return { type: "object" };
  /** @type {Record<string, unknown>} */
  const properties = {};
  const required = [];
  let others;
  for (const member of members) {
    if (ts.isIndexSignatureDeclaration(member)) others = typeSchema(member.type, depth + 1);
    if (!ts.isPropertySignature(member) || !member.type) continue;
    const name =
      ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : "";
    properties[name] = typeSchema(member.type, depth + 1);
    if (!member.questionToken) required.push(name);
  }
  return {
    type: "object",
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(others && Object.keys(others).length > 0 && { additionalProperties: others }),
  };
}

/**
 * @param {ts.TypeNode} type
 * @param {number} depth
 * @returns {Record<string, unknown>}
 */
function typeSchema(type, depth) {
  if (ts.isParenthesizedTypeNode(type)) return typeSchema(type.type, depth);
  if (ts.isTypeLiteralNode(type)) return objectSchema(type.members, depth);
  if (ts.isArrayTypeNode(type))
    return { type: "array", items: typeSchema(type.elementType, depth + 1) };
  if (ts.isTupleTypeNode(type)) return { type: "array" };
  if (ts.isUnionTypeNode(type))
    return unionSchema(type.types.map((one) => typeSchema(one, depth + 1)));
  if (ts.isLiteralTypeNode(type)) return literalSchema(type.literal);
  const keyword = keywords.get(type.kind);
  if (keyword) return keyword;
  throw new Error(`unexpected type in the settings: ${type.getText()}`);
}

/** @type {Map<ts.SyntaxKind, Record<string, unknown>>} */
const keywords = new Map([
  [ts.SyntaxKind.StringKeyword, { type: "string" }],
  [ts.SyntaxKind.NumberKeyword, { type: "number" }],
  [ts.SyntaxKind.BooleanKeyword, { type: "boolean" }],
  [ts.SyntaxKind.UnknownKeyword, {}],
]);

/** @param {ts.LiteralTypeNode["literal"]} literal */
function literalSchema(literal) {
  if (ts.isStringLiteral(literal)) return { enum: [literal.text] };
  if (ts.isNumericLiteral(literal)) return { enum: [Number(literal.text)] };
  if (literal.kind === ts.SyntaxKind.NullKeyword) return { type: "null" };
  return { enum: [literal.kind === ts.SyntaxKind.TrueKeyword] };
}

/** @param {Record<string, unknown>[]} options */
function unionSchema(options) {
  const values = options.flatMap((option) => (Array.isArray(option.enum) ? option.enum : []));
  if (values.length === options.length) return { enum: values };
  const isOneOfObjects = options.every(({ type }) => type === "object");
  return isOneOfObjects ? { type: "object" } : { anyOf: options };
}

function formatted() {
  writeFileSync(output, JSON.stringify(buildSettingsSchema()));
  execFileSync("biome", ["format", "--write", output], { cwd: root, stdio: "ignore" });
  return readFileSync(output, "utf8");
}

if (process.argv[1] === import.meta.filename) {
  const before = readFileSync(output, "utf8");
  if (formatted() !== before) process.stdout.write(`wrote ${output}\n`);
}
