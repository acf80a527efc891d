// Makes shades of an accent that are readable on both themes.
type Colour = readonly [red: number, green: number, blue: number]

/** pages/look/page.css has the same backgrounds. */
const backgrounds = { light: [255, 255, 255], dark: [20, 21, 26] } as const satisfies Record<
  string,
  Colour
>
/** WCAG 2.2, 1.4.3. */
const minContrast = 4.6

/** `accent` is `#rrggbb`. */
export function themeCss(accent: string): string {
  const light = readableOn(backgrounds.light, accent)
  const dark = readableOn(backgrounds.dark, accent)
  return `:root{--accent:light-dark(${hex(light)},${hex(dark)});--on-accent:light-dark(${textOn(light)},${textOn(dark)})}\n`
}

function readableOn(background: Colour, accent: string): Colour {
  const value = Number.parseInt(accent.slice(1), 16)
  const colour = [value >> 16, (value >> 8) & 255, value & 255]
  const end = luminance(background) > 0.5 ? 0 : 255
  for (let share = 0; share < 1; share += 0.02) {
    const shade = colour.map((part) => Math.round(part + (end - part) * share)) as unknown as Colour
    if (contrast(shade, background) >= minContrast) return shade
  }
  return [end, end, end]
}

function textOn(colour: Colour): string {
  return contrast(colour, [255, 255, 255]) >= contrast(colour, [16, 17, 21]) ? '#fff' : '#101115'
}

function hex(colour: Colour): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

/** WCAG 2.2, "contrast ratio". */
export function contrast(one: Colour, other: Colour): number {
  const first = luminance(one)
  const second = luminance(other)
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

/** WCAG 2.2, "relative luminance". */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
