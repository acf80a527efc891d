// The functions of the client that the code of the tabs uses. It is loaded on demand and gets them as an argument: if it imported
// them, bundlers would move them into one more file, which a page would have to load before everything else.

export type Given = Pick<typeof import('../../sign-in.ts'), 'requestMe'> &
  Pick<typeof import('../../transport/backoff.ts'), 'delayAfter'> &
  Pick<typeof import('../../transport/cancellation.ts'), 'following' | 'pause' | 'unlessAborted'> &
  Pick<typeof import('../../transport/errors.ts'), 'isCarillonError'> &
  Pick<typeof import('../position.ts'), 'areOfOneInbox' | 'inboxTagOf' | 'versionOf'> &
  Pick<typeof import('../subscription.ts'), 'isFinal' | 'openStream'> & {
    errorOf(
      ...values: ConstructorParameters<typeof import('../../transport/errors.ts').CarillonError>
    ): import('../../transport/errors.ts').CarillonError
  }

export let areOfOneInbox: Given['areOfOneInbox']
export let delayAfter: Given['delayAfter']
export let errorOf: Given['errorOf']
export let following: Given['following']
export let inboxTagOf: Given['inboxTagOf']
export let isCarillonError: Given['isCarillonError']
export let isFinal: Given['isFinal']
export let openStream: Given['openStream']
export let pause: Given['pause']
export let requestMe: Given['requestMe']
export let unlessAborted: Given['unlessAborted']
export let versionOf: Given['versionOf']

export function give(given: Given): void {
  ;({ areOfOneInbox, delayAfter, errorOf, following, inboxTagOf, isCarillonError, isFinal } = given)
  ;({ openStream, pause, requestMe, unlessAborted, versionOf } = given)
}
