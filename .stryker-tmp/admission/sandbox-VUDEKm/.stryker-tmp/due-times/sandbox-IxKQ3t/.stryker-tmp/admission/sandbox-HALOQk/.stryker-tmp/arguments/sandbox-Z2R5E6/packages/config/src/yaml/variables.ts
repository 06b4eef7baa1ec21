/** The value of a variable; undefined if it is not set. */
export type VariableLookup = (name: string) => string | undefined;

/** Whether the author of a document may use a variable. */
export type VariableFilter = (name: string) => boolean;

/**
 * People write `{ token: ${TOKEN} }`, but braces end a flow map. While YAML is parsed, special
 * characters inside `${…}` are replaced by private-use characters, one for one.
 */
export function escapeVariables(text: string): string {
  return text.replace(variablePattern, (whole) =>
    whole.replace(/[{}[\],:#]/g, (special) =>
      String.fromCharCode(privateUseBase + special.charCodeAt(0)),
    ),
  );
}

export function unescapeVariables(text: string): string {
  return text.replace(/[\ue000-\ue07f]/g, (character) =>
    String.fromCharCode(character.charCodeAt(0) - privateUseBase),
  );
}

const privateUseBase = 0xe000;

/** `$${NAME}` is the literal text `${NAME}`. */
export const variablePattern = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\n]*))?\}/g;
