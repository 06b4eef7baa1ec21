import { Toggle } from "@base-ui/react/toggle";
import { ToggleGroup } from "@base-ui/react/toggle-group";

interface SegmentedControlProps {
  label: string;
  value: string;
  options: readonly { value: string; title: string }[];
  onChange(value: string): void;
}

/** A choice between a few options that are all visible. */
export function SegmentedControl({ label, value, options, onChange }: SegmentedControlProps) {
  return (
    <ToggleGroup
      aria-label={label}
      value={[value]}
      onValueChange={([next]) => next !== undefined && onChange(next)}
      className="flex max-w-full overflow-x-auto rounded border border-line-strong bg-surface"
    >
      {options.map((option) => (
        <Toggle
          key={option.value}
          value={option.value}
          className="h-7.5 border-r border-line px-2.5 whitespace-nowrap text-muted first-letter:uppercase last:border-r-0 hover:bg-hover data-pressed:bg-hover data-pressed:font-medium data-pressed:text-text"
        >
          {option.title}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
