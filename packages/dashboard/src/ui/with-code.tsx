/** A sentence in which `words between backquotes` are set as code. */
export function WithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other name
      <code key={index} className="rounded-sm bg-sunken px-1 font-mono text-[0.92em] text-text">
        {part}
      </code>
    ),
  );
}
