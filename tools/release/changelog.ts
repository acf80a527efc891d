// A section of CHANGELOG.md, whose heading begins with a version. The version has its date there once it is tagged.

/** `text` is what stands below the heading. Returns undefined if there is no such section. */
export function sectionOf(
  changelog: string,
  version: string,
): { text: string; isDated: boolean } | undefined {
  const section = changelog.split(/^## /m).find((one) => one.split(/\s/)[0] === version)
  if (section === undefined) return undefined
  const [heading = ''] = section.split('\n')
  return {
    text: section.slice(heading.length).trimStart(),
    isDated: /\b\d{4}-\d\d-\d\d\b/.test(heading),
  }
}
