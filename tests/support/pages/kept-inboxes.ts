// For tests: what the inbox has kept in the browser of a page.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** How many servers' inboxes are kept in this browser. */
export function keptInboxes(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('carillon-inbox', 1)
        opening.onupgradeneeded = () => opening.result.createObjectStore('servers')
        opening.onerror = reject
        opening.onsuccess = () => {
          const counting = opening.result.transaction('servers').objectStore('servers').count()
          counting.onsuccess = () => {
            opening.result.close()
            resolve(counting.result)
          }
        }
      }),
  )
}

export async function waitForKept(page: Page, wanted: number): Promise<void> {
  for (const end = Date.now() + 20_000; (await keptInboxes(page)) !== wanted; )
    assert.ok(Date.now() < end, `${await keptInboxes(page)} are kept and not ${wanted}`)
}
