/** What stands for `${NAME}` in a text; undefined when nothing does. */
export type Variables = (name: string) => string | undefined;

/** Whether the author of a document may use a variable at all. */
export type MayUse = (name: string) => boolean;

/**
 * `{ token: ${TOKEN} }` is what people write, but braces end a flow map: while YAML is parsed,
 * what is special to it inside `${…}` is moved to private-use characters of the same length.
 */
export function guardVariables(text: string): string {
  return text.replace(variablePattern, (whole) =>
    whole.replace(/[{}[\],:#]/g, (special) =>
      String.fromCharCode(guardBase + special.charCodeAt(0)),
    ),
  );
}

export function unguard(text: string): string {
  return text.replace(/[\ue000-\ue07f]/g, (one) =>
    String.fromCharCode(one.charCodeAt(0) - guardBase),
  );
}

const guardBase = 0xe000;

/** `$${NAME}` is the literal text `${NAME}`. */
export const variablePattern = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\n]*))?\}/g;
