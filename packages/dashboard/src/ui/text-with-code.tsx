/** Renders text between `backquotes` as code. */
export function TextWithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other key
      <code key={index} className="rounded-sm bg-sunken px-1 font-mono text-[0.92em] text-text">
        {part}
      </code>
    ),
  );
}
