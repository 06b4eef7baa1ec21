import { compileSchema } from "@herdctl/config";
import type { Question, Reply } from "@herdctl/protocol";
import { z } from "zod";
import type {
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationValue,
} from "../contract/messages.ts";

interface AskOptions {
  /** How long a person may take, for all fields together. */
  timeoutMs: number;
  signal: AbortSignal;
  ask(question: Question, signal: AbortSignal): Promise<Reply>;
}

/** More fields than a person would fill in. */
const maxFields = 20;
const maxMessageLength = 4_000;

/**
 * Asks a person for what an MCP server requests: one question for each field of its form, all at the
 * same time. The server gets data only if every field was answered.
 */
export async function answerElicitation(
  request: ElicitationRequest,
  { timeoutMs, signal, ask }: AskOptions,
): Promise<ElicitationAnswer> {
  const fields = fieldsOf(request);
  if (fields === undefined) return { action: "decline" };
  const others = new AbortController();
  const limit = AbortSignal.any([signal, others.signal]);
  const expiresAt = new Date(Date.now() + timeoutMs).toISOString();
  const replies = fields.map(async (field) => {
    const value = await askField(request, field, expiresAt, (question) => ask(question, limit));
    // One refusal refuses the whole request, so nobody needs to answer the rest.
    if (value.kind === "refused") others.abort();
    return [field.name, value] as const;
  });
  const answered = await Promise.all(replies);
  if (signal.aborted) return { action: "cancel" };
  if (answered.some(([, value]) => value.kind === "refused")) return { action: "decline" };
  const content = answered.flatMap(([name, value]) =>
    value.kind === "value" && name !== confirmation ? [[name, value.value] as const] : [],
  );
  return request.mode === "url"
    ? { action: "accept" }
    : { action: "accept", content: Object.fromEntries(content) };
}

type FieldValue =
  | { kind: "value"; value: ElicitationValue }
  | { kind: "empty" }
  | { kind: "refused" };

interface Field {
  name: string;
  text: string;
  choices: { label: string; description: string | null; value: ElicitationValue | undefined }[];
  freeText: boolean;
  multiple: boolean;
  /** The value of a typed answer, or what is wrong with it. */
  parse(text: string): { value: ElicitationValue } | { problem: string };
}

async function askField(
  request: ElicitationRequest,
  field: Field,
  expiresAt: string,
  ask: (question: Question) => Promise<Reply>,
): Promise<FieldValue> {
  for (let problem = ""; ; ) {
    const reply = await ask(questionOf(request, field, expiresAt, problem));
    if (reply.kind === "none") return { kind: "refused" };
    const choice = field.choices.find(({ label }) => label === reply.text);
    if (choice)
      return choice.value === undefined
        ? { kind: "empty" }
        : { kind: "value", value: choice.value };
    const parsed = field.parse(reply.text);
    if ("value" in parsed) return { kind: "value", value: parsed.value };
    problem = `“${reply.text.slice(0, 100)}” was not accepted: ${parsed.problem}.\n`;
  }
}

function questionOf(
  { server, message, mode, url }: ElicitationRequest,
  { name, text, choices, freeText, multiple }: Field,
  expiresAt: string,
  problem: string,
): Question {
  const asks = `The MCP server ${server} asks: ${message.slice(0, maxMessageLength)}`;
  return {
    tool: `mcp__${server}`,
    input: { server, message, mode, ...(url !== undefined && { url }), field: name },
    question: [`${problem}${asks}`, text].filter((line) => line !== "").join("\n"),
    choices:
      choices.length > 0 ? choices.map(({ label, description }) => ({ label, description })) : null,
    free_text: freeText,
    multiple,
    default_reply: null,
    expires_at: expiresAt,
  };
}

const confirmation = "";
const leaveEmpty = { label: "Leave empty", description: null, value: undefined };
const refuseText = () => ({ problem: "choose one of the answers" });

/** Undefined for a request that herdctl refuses without asking. */
function fieldsOf({ mode, url, schema }: ElicitationRequest): Field[] | undefined {
  if (mode === "url") {
    if (url === undefined || !isWebAddress(url)) return undefined;
    const text = `Open this page, and confirm when you are done there: ${url}`;
    return [confirmationField(text, "Done")];
  }
  const { data } = formSchema.safeParse(schema ?? {});
  if (!data) return undefined;
  const fields = Object.entries(data.properties);
  if (fields.length > maxFields) return undefined;
  if (fields.length === 0) return [confirmationField("", "Accept")];
  return fields.map(([name, field]) => toField(name, field, data.required.includes(name)));
}

function confirmationField(text: string, label: string): Field {
  const choices = [{ label, description: null, value: true }];
  return { name: confirmation, text, choices, freeText: false, multiple: false, parse: refuseText };
}

function isWebAddress(url: string): boolean {
  return (
    URL.canParse(url) && /* defence: elicitation-url */ /^https?:$/.test(new URL(url).protocol)
  );
}

const labelledValue = z.looseObject({ const: z.string(), title: z.string().optional() });
const labelledValues = z.array(labelledValue).min(1).max(100);
const primitive = z.union([z.string(), z.number(), z.boolean()]);
const fieldSchema = z.looseObject({
  type: z.enum(["string", "number", "integer", "boolean", "array"]).catch("string"),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  default: z
    .union([primitive, z.array(z.string())])
    .optional()
    .catch(undefined),
  enum: z.array(z.string()).min(1).max(100).optional(),
  enumNames: z.array(z.string()).optional().catch(undefined),
  oneOf: labelledValues.optional(),
  items: z
    .looseObject({
      enum: z.array(z.string()).min(1).max(100).optional(),
      anyOf: labelledValues.optional(),
    })
    .optional(),
  minItems: z.number().optional().catch(undefined),
  maxItems: z.number().optional().catch(undefined),
  minLength: z.number().optional().catch(undefined),
  maxLength: z.number().optional().catch(undefined),
  minimum: z.number().optional().catch(undefined),
  maximum: z.number().optional().catch(undefined),
  format: z.enum(["email", "uri", "date", "date-time"]).optional().catch(undefined),
});
type FieldSchema = z.output<typeof fieldSchema>;

/** The subset of JSON Schema that the Model Context Protocol allows here: flat objects of primitives. */
const formSchema = z.looseObject({
  properties: z.record(z.string().max(200), fieldSchema).default({}),
  required: z.array(z.string()).default([]),
});

function toField(name: string, field: FieldSchema, isRequired: boolean): Field {
  const { title = name, description, default: preset } = field;
  const options = optionsOf(field);
  const multiple = field.type === "array";
  const presets = options.length === 0 && preset !== undefined ? [presetChoice(preset)] : [];
  return {
    name,
    text: `${title}${description ? `: ${description}` : ""}${limitsOf(field)}`,
    choices: [...options, ...presets, ...(isRequired ? [] : [leaveEmpty])],
    freeText: multiple || options.length === 0,
    multiple,
    parse: multiple ? parseList(field, options) : parseText(field),
  };
}

type Option = Field["choices"][number];

function presetChoice(value: ElicitationValue): Option {
  return { label: String(value), description: "default", value };
}

function optionsOf({ type, ...field }: FieldSchema): Option[] {
  const option = (value: ElicitationValue, label = String(value)): Option => ({
    label,
    description: field.default === value ? "default" : null,
    value,
  });
  if (type === "boolean") return [option(true, "Yes"), option(false, "No")];
  const { items = {} } = field;
  const labelled = field.oneOf ?? items.anyOf;
  if (labelled) return labelled.map(({ const: value, title }) => option(value, title));
  return (field.enum ?? items.enum ?? []).map((value, index) =>
    option(value, field.enumNames?.[index]),
  );
}

const kindTexts: Partial<Record<FieldSchema["type"], string>> = {
  number: "a number",
  integer: "a whole number",
  array: "one or more, separated by commas",
};

function limitsOf({ type, format, minimum, maximum, minLength, maxLength }: FieldSchema): string {
  const kind = kindTexts[type] ?? format;
  const from = minimum ?? minLength;
  const to = maximum ?? maxLength;
  const unit = minLength !== undefined || maxLength !== undefined ? " characters" : "";
  const limits = [
    ...(kind === undefined ? [] : [kind]),
    ...(from === undefined ? [] : [`at least ${from}${unit}`]),
    ...(to === undefined ? [] : [`at most ${to}${unit}`]),
  ];
  return limits.length > 0 ? ` (${limits.join(", ")})` : "";
}

function parseText(field: FieldSchema): Field["parse"] {
  if (field.enum ?? field.oneOf) return refuseText;
  const { type, minLength, maxLength, minimum, maximum, format } = field;
  // Only these keywords: a pattern of a hostile server could block the process.
  const schema = { type, minLength, maxLength, minimum, maximum, format };
  const check = compileSchema({ properties: { answer: withoutUndefined(schema) } });
  return (text) => {
    const value = type === "number" || type === "integer" ? Number(text.trim()) : text;
    const [problem] = Number.isNaN(value) ? ["it is not a number"] : check({ answer: value });
    return problem === undefined ? { value } : { problem: problem.replace(/^answer /, "it ") };
  };
}

function parseList(
  { minItems = 0, maxItems }: FieldSchema,
  options: readonly Option[],
): Field["parse"] {
  return (text) => {
    const parts = text.split(",").map((part) => part.trim().toLowerCase());
    const chosen = parts.map((part) => options.find(({ label }) => label.toLowerCase() === part));
    if (chosen.some((option) => option === undefined))
      return { problem: `choose from ${options.map(({ label }) => label).join(", ")}` };
    const value = [...new Set(chosen.map((option) => String(option?.value)))];
    if (value.length < minItems) return { problem: `choose at least ${minItems}` };
    if (maxItems !== undefined && value.length > maxItems)
      return { problem: `choose at most ${maxItems}` };
    return { value };
  };
}

function withoutUndefined(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
