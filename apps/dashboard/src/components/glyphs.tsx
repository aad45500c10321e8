/** Small signs of the controls; they say nothing that the control's name does not. */
const paths = {
  chevron: "m5.5 3.5 4.5 4.5-4.5 4.5",
  close: "m4 4 8 8m0-8-8 8",
  back: "M10 3 5 8l5 5",
  system: "M2.5 3h11v7.5h-11ZM5.5 13.5h5M8 10.5v3",
  light:
    "M8 10.75a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.050 1.050M11.55 11.55l1.050 1.050M3.4 12.6l1.050-1.050M11.55 4.45l1.050-1.050",
  dark: "M13.25 9.75A5.75 5.75 0 0 1 6.25 2.75a5.75 5.75 0 1 0 7 7Z",
  play: "M4.5 2.75v10.5L13 8Z",
} as const;

export function Glyph({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
