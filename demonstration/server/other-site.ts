// The page that stands for another site: it posts a form to the visitor's world, as a page of an attacker would. `localhost` and `127.0.0.1`
// are two sites for a browser, and both lead here.
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { invalidField, noSuchRoute } from '../../server/basics/errors.ts'
import { otherSiteOf } from '../../server/demonstration/demonstration-page.routes.ts'

/** The reader sees the page first. It has no other script, and the policy names this one by its hash. */
const script = 'setTimeout(() => document.forms[0].submit(), 1500)'
const scriptHash = createHash('sha256').update(script).digest('base64')

/** `base`: the path of the demonstration. Throws NOT_FOUND if there is no other site. */
export function otherSitePage(
  response: ServerResponse,
  { id, host, base }: { id: string; host: string; base: string },
) {
  const attacked = otherSiteOf(host)
  if (attacked === null) throw noSuchRoute()
  if (!/^[\w-]{1,32}$/.test(id)) throw invalidField('visit', 'must be the id of a visit')
  const policy =
    `default-src 'none'; script-src 'sha256-${scriptHash}'; form-action ${attacked}; ` +
    `frame-ancestors ${attacked}; base-uri 'none'`
  response.writeHead(200, { 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>${host}</title>
<h1>${host}</h1><form method="post" action="${attacked}${base}/service/api/notifications/read-all?visit=${id}"><button>Click here to win a prize</button></form><script>${script}</script></html>`)
}
