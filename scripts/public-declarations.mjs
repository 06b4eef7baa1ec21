// Reads what the published packages export, from their built type declarations.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");
const printer = ts.createPrinter({ removeComments: true });

/**
 * The entries of the published packages with a TypeScript checker. `@herdctl/core/internal` is not
 * public.
 */
export function readPublicEntries() {
  const entries = readdirSync(join(root, "packages")).sort().flatMap(entriesOf);
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      strict: true,
      skipLibCheck: true,
      types: [],
    },
  );
  const checker = program.getTypeChecker();
  const exportsOf = (file) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    return checker
      .getExportsOfModule(module)
      .map((symbol) => ({ name: symbol.name, symbol: targetOf(checker, symbol) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    checker,
    entries: entries.map(({ name, file }) => ({ name, file, exports: exportsOf(file) })),
  };
}

function entriesOf(folder) {
  const directory = join(root, "packages", folder);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  if (manifest.private) return [];
  return Object.entries(manifest.exports).flatMap(([path, { types }]) => {
    if (types === undefined || path === "./internal") return [];
    const file = join(directory, types);
    if (!existsSync(file)) throw new Error(`${file} is missing: run \`npm run build\``);
    return [{ name: join(manifest.name, path), file }];
  });
}

export function targetOf(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

export function isValue(symbol) {
  return (symbol.flags & ts.SymbolFlags.Value) !== 0;
}

export function summaryOf(checker, symbol) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll("\n", " ");
}

/** The declarations of a symbol without comments and private members. */
export function declarationsOf(symbol, name = symbol.name) {
  return (symbol.declarations ?? []).map((node) => {
    const text = printer
      .printNode(ts.EmitHint.Unspecified, withoutPrivates(node), node.getSourceFile())
      .replace(/^(export )?(declare )?/, "")
      .replaceAll("    ", "  ")
      // The bundler numbers names that occur in several files.
      .replaceAll(/(\w)\$\d+\b/g, "$1");
    if (!ts.isVariableDeclaration(node)) return text.replace(cleanName(symbol.name), name);
    return `const ${name}${text.slice(cleanName(symbol.name).length)};`;
  });
}

function cleanName(name) {
  return name.replace(/\$\d+$/, "");
}

function withoutPrivates(node) {
  if (!ts.isClassDeclaration(node)) return node;
  const { modifiers, name, typeParameters, heritageClauses, members } = node;
  const visible = members.filter((member) => !isPrivate(member));
  const { factory } = ts;
  return factory.updateClassDeclaration(
    node,
    modifiers,
    name,
    typeParameters,
    heritageClauses,
    visible,
  );
}

export function isPrivate(member) {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  const isHidden = (ts.getCombinedModifierFlags(member) & hidden) !== 0;
  return isHidden || (member.name !== undefined && ts.isPrivateIdentifier(member.name));
}
