// The experiments of the demonstration: what to predict, what was measured, why, and when to take which variant.
import type { Plurals } from '../plurals.ts'

export type Texts = typeof texts

const experiments = {
  replay: {
    title: 'Replay after sign-out',
    question: 'A thief has copied the proof. You sign out. Then the thief presents the copy.',
    yes: 'The copy is accepted',
    no: 'The copy is refused',
    why: 'The cookie only names a row of the database, and the sign-out removed that row: the copy names nothing. A token needs no row. Its signature is still valid, so a service that checks the signature alone accepts the copy until it expires. Carillon refuses it, because the sign-out also stores a small row, a revocation, which every process keeps in memory for as long as the token could live.',
    follows: 'If a sign-out has to work at once, take a session. A token needs a list of revocations.',
  },
  revokeAll: {
    title: 'Revoke all sign-ins',
    question: 'A phone is lost. The operator revokes all sign-ins of the user.',
    yes: 'The proof is still accepted',
    no: 'The proof is refused',
    why: 'The sessions of a user are rows, so the server can list and remove them. Nobody has a list of the tokens that are out there. Carillon stores one revocation for all of them: the sign-ins of this user up to now. That works wherever the revocation is known. A service that has only the public key still accepts the token, for 15 minutes at most.',
    follows:
      'One place can end every session. Tokens end wherever the revocation arrives, and elsewhere by their short life.',
  },
  changeCharacter: {
    title: 'Change one character',
    question: 'Someone changes one character of the proof, perhaps to become another user.',
    yes: 'The changed proof is accepted',
    no: 'The changed proof is refused',
    why: 'The server stores a hash of the cookie. Another character has another hash, and no row has it: only the look-up shows that. The signature of a token covers each of its characters. The public key shows that text and signature do not belong together, without any look-up. Neither can be guessed: the cookie has 256 random bits, and a signature needs the private key.',
    follows: 'Both are safe from forgery: one by a look-up, the other by arithmetic.',
  },
  restart: {
    title: 'Restart the server',
    question: 'The server stops, forgets everything that it had in memory, and starts again.',
    yes: 'The proof is still accepted',
    no: 'The proof is refused',
    why: 'The session is a row of the database, not a variable of the process. The token is with the client, and the key that signed it is in the database, encrypted. A service that kept its sessions in memory, or made a new key at each start, would sign everyone out here.',
    follows: 'Both survive, as long as the sessions and the signing key are stored.',
  },
  expiry: {
    title: 'Let it expire',
    question: 'The clock of your service is set 16 minutes ahead. Nobody used the proof in that time.',
    yes: 'The proof is still accepted',
    no: 'The proof has expired',
    why: 'The end of a token is written in it and signed: 15 minutes after it was issued. Nobody can move it, so a client renews the token before it ends. The end of a session is in the database and moves with each use: 7 days after the last use, 30 days after the sign-in at the latest. The last line is from another 8 days later.',
    follows: 'For long sign-ins take a session. A token is short on purpose, and the client renews it.',
  },
  script: {
    title: 'A script tries to read the credential',
    question: 'A foreign script runs in this page, for example out of a hijacked library. It looks for the proof.',
    yes: 'The script reads it',
    no: 'The script cannot read it',
    why: 'The cookie is HttpOnly: the browser sends it and shows it to no script, not even to this page. The token has to be in the memory of the page, which adds it to each request, so a script that takes the place of fetch sees it. As the last line shows, the script can send requests with both while the page is open. But only the token can be carried away and used elsewhere until it expires.',
    follows: 'In a browser, prefer a session with an HttpOnly cookie. Nothing replaces keeping foreign scripts out.',
  },
  otherSite: {
    title: 'Another site posts a form',
    question: 'You open a page of another site. It sends a form to your service at once: mark all as read.',
    yes: 'The form acts in your name',
    no: 'The form does nothing',
    why: 'Browsers add cookies to requests on their own, so a form of another site could once act in your name. SameSite=Lax keeps the cookie out of such a form, and Carillon refuses it anyway if the browser says that another site sent it. A browser never adds a token on its own, and the other site does not have it.',
    follows: 'A cookie needs SameSite and a check of the origin. A token in a header field needs neither.',
  },
  offline: {
    title: 'Read the token offline with the public key',
    question:
      'Another service knows the public key and has no access to the database. Can it be sure whose proof this is?',
    yes: 'It can, without a request',
    no: 'It cannot',
    why: 'The claims of a token are signed, not encrypted: whoever has the token can read them, and the public key proves that Carillon wrote them. So any service can check it by itself, but cannot know whether it was revoked. The cookie has the id of the user and a random number, and no signature: anyone could write another id. Only the database knows whether the two belong together.',
    follows: 'If several services check proofs and share no database, take a token. Put no secrets into it.',
  },
  outage: {
    title: 'The database is gone for ten seconds',
    question: 'The database stops responding. In this time the restricted route is requested, which needs no data.',
    yes: 'The proof is accepted',
    no: 'The request fails',
    why: 'Without the database nobody can look up a session: the service says 503, not 401, because the proof may well be valid. The token is checked in memory, so a route without data works. The list of notifications is in the database, so it fails in both lanes. Afterwards both work again, and nobody had to sign in.',
    follows: 'If a check must not depend on the database, or would be too many reads, take a token.',
  },
}

const facts = {
  before: 'Before',
  signOut: 'Sign-out',
  withCopy: 'With the copy',
  withChange: 'With the changed character',
  changedName: 'The changed token names the user',
  after: 'Afterwards',
  minutesLater: '16 minutes later',
  daysLater: 'Another 8 days later',
  signatureValid: 'By the public key alone, the signature is valid',
  signatureInvalid: 'By the public key alone, the signature is not valid',
  cookieHidden: 'document.cookie does not have the cookie',
  cookieReadable: 'document.cookie has the cookie',
  tokenHidden: 'The script found no token',
  tokenRead: 'The script read the token in a request',
  usedByScript: 'The script sends a request of its own',
  formSent: 'The form of the other site',
  formHasCookie: 'The browser sent the cookie with it',
  formLacksCookie: 'The browser sent no cookie with it',
  formHasToken: 'The browser sent the token with it',
  formLacksToken: 'The browser sent no token with it',
  unread: 'Unread before and after',
  cookieContent: 'In the cookie are an id and a random number',
  cookieHasClaims: 'It has claims with a signature',
  cookieLacksClaims: 'It has no signature that a key could check',
  claims: 'Read in the token',
  requests: 'Requests that this took',
  noWebCrypto:
    'The signature was not checked: browsers have no Web Crypto on a page that came by plain HTTP. Open this page by https:// or on localhost.',
  noEd25519:
    'The signature was not checked: the Web Crypto of this browser does not know Ed25519. Try a current version of Firefox, Safari or Chrome.',
  during: 'While the database is gone',
  duringList: 'The list, which is in the database',
}

export const texts = (plurals: Plurals) => ({
  title: 'Experiments',
  intro:
    'Predict first, then run. Each experiment signs in again in both lanes, sends real requests to your own small service, and changes nothing else.',
  predict: (lane: string) => `${lane}: what do you predict?`,
  run: 'Run the experiment',
  runAgain: 'Run it again',
  choose: 'Choose a prediction for each lane first.',
  link: (title: string) => `Link to the experiment “${title}”`,
  experiments,
  progress: {
    signingIn: 'Signing in, in both lanes …',
    copying: 'The thief copies both proofs …',
    signingOut: 'Signing out …',
    presenting: 'Presenting both proofs …',
    revoking: 'The operator revokes all sign-ins …',
    changing: 'Changing one character …',
    restarting: 'The server restarts …',
    advancing: 'Setting the clock ahead …',
    spying: 'The script looks for the proof …',
    waitingForForm: 'The other site sends its form …',
    checkingSignature: 'Checking the signature in this browser …',
    outage: plurals({
      one: 'The database is gone for # more second.',
      other: 'The database is gone for # more seconds.',
    }),
  },
  frameTitle: 'A page of another site',
  facts,
  asPredicted: 'as predicted',
  notAsPredicted: 'not as predicted',
  result: 'Result',
  right: 'You predicted this.',
  wrong: (predicted: string) => `You predicted: ${predicted}.`,
  notMeasured: 'Not measured in this browser',
  whyTitle: 'Why',
  wire: 'As it was on the wire',
  trace: 'What the server did',
  table: {
    title: 'When to take which',
    intro: 'The table fills in as you run the experiments.',
    caption: 'What you measured, and what follows from it',
    experiment: 'Experiment',
    follows: 'What follows',
    notRun: 'Not run yet',
    run: (count: number) => `${count} of 9 experiments done.`,
    session: 'Take a session',
    sessionText:
      'for people in a browser: the proof is safe from scripts, a sign-out works at once, and a sign-in can last for weeks. It costs a look-up for each request.',
    token: 'Take a token',
    tokenText:
      'for programs, apps and services that share no database: anyone with the public key can check it. Keep it short-lived, because it is hard to end early.',
    forget: 'Forget my results',
  },
  /** Follows why an experiment ended early. */
  again: 'Your predictions are kept. Run the experiment again.',
  tabs: {
    other:
      'The demonstration is open in another tab too. Both tabs share one cookie and one small service, so work in one of them: otherwise you measure what the other tab did.',
    running: 'An experiment is running in another tab. Wait until it is over, then run this one.',
  },
})
