// The sentences of the demonstration in English.
export const sentences = {
  says: {
    session: 'It stores a row about your sign-in. A cookie in your browser has the secret number of the row.',
    token: 'The server writes down who you are, signs it, and keeps no copy. Your browser gets a token.',
  },
  ownWorld: 'This makes a small service for you alone. It is deleted after an hour.',
  /** What to look at, above the pictures. */
  see: {
    'without-proof': 'Look at the envelope: it is empty. Nothing in it says who is asking.',
    'sign-in': 'Look at what stays behind: a row in the database for the session, no row for the token.',
    'with-proof': 'Look at who can check it. The other server has no database, only the public key.',
    inbox: 'Look at the database: now both need it, because the inbox is stored there.',
    experiments: 'Seven things that happen. First say how they end, then run them with real requests.',
    stolen: 'A thief has copied your proof. Look: another browser, another address, and the same envelope.',
    signOut: 'You sign out, and the thief tries the copies again. Look at who has heard of your sign-out.',
    form: 'A page of another site sends “mark all as read” in your browser. Look at what the browser adds.',
    script: 'A foreign script runs in this page. Look at which proof it can carry away.',
    time: 'Your clock moves 16 minutes ahead. Look at where the end is written: in the token, or in the database.',
    outage: 'The database stops. Look at which proof can still be checked.',
    balancer: 'Ten requests go to five servers in turn. Look at what they share: nothing, a database, a public key.',
    result: 'What both cost, measured here and now, and when to take which.',
  },
  /** After the sign-out. */
  stillWorks:
    'Without its row, a cookie names nothing. A token’s signature stays valid: “it still works” is right. This server refuses it only because it keeps a small list of revoked sign-ins.',
  /** What to remember. */
  follows: {
    'without-proof': 'Both get 401. Without a proof there is no difference yet.',
    'sign-in': 'The cookie is a number without meaning. The token says who you are, and the server signed it.',
    'with-proof': 'A cookie must be looked up. A token is checked by its signature, wherever the public key is.',
    inbox: 'The proof decides how the server knows you, not what you get. “Stateless” is only the sign-in.',
    stolen: 'Whoever holds a proof is you until it ends. So ask: who can end it, and how soon?',
    signOut: 'A session ends at once, everywhere; a token where the list is, and elsewhere when it expires.',
    form: 'SameSite keeps a cookie out of such forms; the server checks the origin too. A token is never added by itself.',
    script: 'No script can read an HttpOnly cookie; a page has to hold its token, so a script can take it.',
    time: 'A session lasts for 7 days after each use, 30 in all; a token is short, and renewed for 12 hours.',
    outage: 'A token can be checked without the database; 503 is no refusal: the cookie may still be valid.',
    balancer: 'Each server has its own memory; a database is shared, with a look-up each time; a key needs none.',
  },
  /** What a sign-in stores for other reasons. */
  also: {
    audit: 'A line in the audit log, the record of what happened to your account.',
    device: 'A known device: guesses of others do not delay your next sign-in from here.',
    session: 'A second cookie (…-device) names the device, and signs nobody in.',
    token: 'The line names the sid, deviceToken names the device. No request is checked by either.',
  },
  visitField: 'Carillon-Visit and carillon-visit lead to your own service. “…” hides cookies of other services.',
  tryForge: 'Change any character: the signature no longer fits. Only this server’s private key makes a new one.',
  notCopied: 'The browser does not allow copying. The text is selected: press Ctrl+C.',
  revocations: (size: number, end: string) => `Revoked sign-ins in the list: ${size}. The last entry ends at ${end}.`,
  expires: (seconds: number) => `The copied token works at the other server for ${seconds} more seconds.`,
  oneName: 'This service has one public name: a browser has no really other site here. Try it at localhost.',
  counted: (accepted: number, lookUps: number) => `${accepted} of 10 accepted, ${lookUps} look-ups`,
  secondsStolen: 'After a sign-out, seconds until a stolen proof is useless',
  advice: {
    session: 'Take a session if people sign in with a browser: no script reads it, and a sign-out works at once.',
    token: 'Take a token if programs or servers without your database must check who asks. Keep it short-lived.',
    both: 'Take both if people use a browser and your servers call each other: short tokens from the session.',
  },
  aboutKeys:
    'A token names its key (kid), and servers fetch the public keys as a list, the key set. A new key is in it before it signs, the old one until its last token has expired: they overlap. A stolen key is dropped at once.',
  troubles: {
    unreachable: 'The service does not respond. What you have seen so far stays here.',
    gone: 'Your own service is gone: after an hour, after ten minutes without a request, or for another tab.',
    full: 'All places of the demonstration are taken.',
    tooMany: 'There were too many requests from your address.',
    noCookies: 'Your browser does not keep the cookie of this page. Allow cookies for this address.',
    other: 'The service responded in an unexpected way.',
  },
}
