// What has no hash although it should: a comment `# unpinned: REASON` on its line or on the line above. A release refuses it.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const places = ['.github/**/*.yml', 'packaging/{Dockerfile,*.yaml}', '.devcontainer/*']
const comment = /(?:^|\s)# unpinned: (.+)$/

/** Each as `file:line: reason`. */
export function unpinned(root: string): string[] {
  return globSync(places, { cwd: root }).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap(
        (line, i) =>
          comment
            .exec(line)
            ?.slice(1)
            .map((reason) => `${file}:${i + 1}: ${reason}`) ?? [],
      ),
  )
}

/** Is the line marked? `lines` are those of its file. */
export function isMarked(lines: readonly string[], line: number): boolean {
  return comment.test(lines[line] ?? '') || /^\s*# unpinned: ./.test(lines[line - 1] ?? '')
}
