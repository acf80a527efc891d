// The mail with a link to set a new password: plain English, as text and as a small HTML part.
import { iso } from '../../times.ts'

export type ResetMail = { to: string; subject: string; text: string; html: string }
type Facts = { to: string; username: string; url: string; expiresAt: number; service: string }

/** Each line has less than 76 characters for URLs of usual length, so that no line is wrapped or encoded. */
export function resetMail({ to, username, url, expiresAt, service }: Facts): ResetMail {
  const until = `${iso(expiresAt).slice(0, 16).replace('T', ' ')} UTC`
  const text = `Somebody requested a new password for the account
${username}
at ${service}.

To choose one, open this link. It works once, until ${until}:

${url}

If that was not you, ignore this mail: your password stays as it is.
`
  const html = `<!doctype html>
<html lang="en"><body>
<p>Somebody requested a new password for the account
<b>${escaped(username)}</b>
at ${escaped(service)}.</p>
<p>To choose one, open this link. It works once, until ${until}:</p>
<p><a href=
"${escaped(url)}"
>Choose a new password</a></p>
<p>If that was not you, ignore this mail:
your password stays as it is.</p>
</body></html>
`
  return { to, subject: `A new password at ${service}`, text, html }
}

function escaped(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (character) => names[character] as string)
}
