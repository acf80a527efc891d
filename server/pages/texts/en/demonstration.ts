// The demonstration: the walk through the six steps, and the experiments below it.
import type { Plurals } from '../plurals.ts'

export type Texts = ReturnType<typeof texts>

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
  cookiesOfScript: 'document.cookie, as the script reads it',
  fieldOfScript: 'The field Authorization, as the script reads it',
  usedByScript: 'The script sends a request of its own',
  formSent: 'The form of the other site',
  formCookie: 'The cookie that the browser sent with it',
  formToken: 'The token that the browser sent with it',
  unread: 'Unread before and after',
  cookieContent: 'In the cookie are an id and a random number',
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

const ofExperiments = (plurals: Plurals) => ({
  title: 'Experiments',
  intro:
    'Predict first, then run. Each experiment signs in again in both lanes, sends real requests to your own small service, and changes nothing else.',
  predict: (lane: string) => `${lane}: what do you predict?`,
  run: 'Run the experiment',
  runAgain: 'Run it again',
  choose: 'Choose a prediction for each lane first.',
  link: (title: string) => `Link to the experiment “${title}”`,
  experiments,
  running: 'Sending the requests in both lanes …',
  outage: plurals({
    one: 'The database is gone for # more second.',
    other: 'The database is gone for # more seconds.',
  }),
  frameTitle: 'A page of another site',
  facts,
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

export const texts = (plurals: Plurals) => ({
  title: 'Session or token: watch both at work',
  lead: 'You sign in once. How does the server know, at your next click, that it is still you? There are two answers, a session and a token. This page sends the same requests in both ways, for real, and shows what the browser keeps, what travels, and what the server keeps.',
  walk: 'The walk',
  experiments: ofExperiments(plurals),
  laneNames: { session: 'Session', token: 'Token' },
  ideas: {
    session: {
      title: 'The server remembers you',
      text: 'At the sign-in, the server stores a row about you and gives the browser its number, in a cookie. At each request it looks the row up.',
      like: 'Like a cloakroom: you hold a number, the coat hangs with them.',
    },
    token: {
      title: 'You carry a signed statement',
      text: 'At the sign-in, the server writes down who you are, signs it and stores nothing. At each request it checks its own signature.',
      like: 'Like a passport: anyone who knows the seal can check it, and needs to ask nobody.',
    },
  },
  ownWorld:
    'For you alone, the service makes a small copy of itself: its own database, keys, clock and cookies. What happens in it concerns nobody else, and it is removed after one hour.',
  begin: 'Start: ask without proof',
  next: 'Next: ',
  toExperiments: 'On to the experiments',
  stepOf: (number: number) => `Step ${number} of 6`,
  sending: 'Sending the requests of step ',
  steps: {
    'without-proof': {
      short: 'No proof',
      title: 'Ask without proof',
      intro: 'The browser requests a page for signed-in users only. Nothing in the request says who is asking.',
      finding: 'Both get 401. As long as there is no proof, the two variants are the same.',
    },
    'sign-in': {
      short: 'Sign in',
      title: 'Sign in',
      intro:
        'Both lanes send the same username and password. The difference is what the server does once it has found them right.',
      finding:
        'The browser now keeps a proof in each lane. For the session, the server stored a row that belongs to it. For the token, it stored nothing. (That both lanes count the attempt and note the device is about the user, not about the proof.)',
    },
    'with-proof': {
      short: 'With proof',
      title: 'Ask again, with proof',
      intro:
        'The request of step 1 once more. The browser adds the cookie by itself; the script of this page adds the token.',
      finding:
        'Both get 200. To accept the cookie, the server had to look its row up in the database. To accept the token, it asked no database: it recognised a token that it had signed itself. Any other server computes the signature instead.',
    },
    list: {
      short: 'List',
      title: 'List the notifications',
      intro: 'Now something useful: the inbox of the user. Both lanes are the same user, so there is one inbox.',
      finding:
        'The two lists are equal. The variant decides how the server finds out who asks, not what that user gets. The list itself is in the database: the session lane reads it together with the session, the token lane alone.',
    },
    'mark-one': {
      short: 'Mark one',
      title: 'Mark one as read',
      intro: 'Each lane marks another notification of the same inbox.',
      finding:
        '204: done, and there is nothing to add. Both lanes changed the inbox. A token means that no sign-in is stored; the data of the user is stored all the same.',
    },
    'mark-all': {
      short: 'Mark all',
      title: 'Mark all as read',
      intro: 'One request for the whole inbox, however many notifications it has.',
      finding:
        'Again 204 in both lanes. The session lane came first and marked what was left; for the token lane there was nothing left to mark, which is no error.',
    },
  },
  columns: { browser: 'The browser keeps', wire: 'On the wire', server: 'The server keeps' },
  nothingInBrowser: 'Nothing that says who you are.',
  cookieInBrowser: 'A cookie',
  cookieNote:
    'The browser sends it by itself. No script can read it, that of this page included: you see it here from the record of the server.',
  tokenInBrowser: 'A token, in the memory of this page',
  tokenNote: 'The script of the page keeps it and adds it to each request. Any script in this page could read it.',
  validUntil: 'Valid until ',
  requestBy: 'Request',
  responseTo: 'Response',
  allFields: plurals({ one: 'Show # more field', other: 'Show all, # more fields' }),
  fewerFields: 'Show only what matters',
  nothingStored: 'Nothing was stored',
  nothingStoredYet: 'Nothing about this browser.',
  nothingForToken:
    'No row belongs to this token. The server keeps one pair of keys, which signs the tokens of all users.',
  kinds: { new: 'new', changed: 'changed', gone: 'removed' },
  tables: {
    session: 'The session of this sign-in',
    token_cutoff: 'A revocation',
    known_device: 'A device that the user has signed in on: not a proof, and the same in both lanes',
    inbox: 'The inbox of the user',
    notification: 'A notification',
  },
  rowFields: {
    secret_hash: 'a hash of the secret in the cookie: who steals the database cannot make the cookie from it',
    created_at: 'the sign-in; the session ends 30 days later',
    last_seen_at: 'the last use; a session that is not used ends earlier',
    confirmed_at: 'when the user last entered the password again',
    has_tokens: 'whether a token was made from this session',
  },
  diagramTitle: 'What happened, in order',
  actors: { browser: 'Browser', server: 'Server', store: 'Database' },
  notAsked: 'not asked',
  noTrace: 'The trace of the server is off here (CARILLON_DEMONSTRATION_TRACE).',
  proofs: { none: 'without proof', cookie: 'with the cookie', token: 'with the token', password: 'with the password' },
  arrows: {
    request: (line: string, proof: string) => `Browser to server: ${line}, ${proof}.`,
    response: (status: string) => `Server to browser: ${status}.`,
    store: (what: string, ms: string) => `Server to database: ${what}, ${ms}.`,
    server: (what: string, ms: string) => `In the server: ${what}, ${ms}.`,
  },
  /** Names of calls in the server, some with their result. */
  calls: {
    'store.findCredentials': 'read the password hash',
    'passwords.verify': 'check the password',
    'store.addSession': 'store the session',
    'store.findSession': 'look the session up',
    'accessTokens.issue': 'sign the token',
    'accessTokens.verify found, signature': 'check the signature',
    'accessTokens.verify found, remembered': 'recognise its own token',
    'accessTokens.verify none, signature': 'check the signature: refused',
    'accessTokens.verify none, remembered': 'recognise the token: refused',
    'store.guessRefusals': 'too many wrong passwords?',
    'store.reserveGuess': 'count the attempt',
    'store.clearGuesses': 'forget earlier attempts',
    'store.factorsOf': 'check for a second factor',
    'store.noteDevice': 'note the device',
    'store.readPage': 'read the list',
    'store.markRead': 'mark one as read',
    'store.markAllRead': 'mark all as read',
    'revocations.isRevoked': 'revoked? checked in memory',
  },
  setsCookie: 'sets the cookie',
  givesToken: 'brings the token',
  cookieApart: 'The cookie, taken apart',
  tokenApart: 'The token, taken apart',
  cookieFields: {
    name: 'The name under which the browser keeps it. The demonstration has a name of its own, so that your real sign-in stays as it is.',
    user: 'The id of the user. It is no secret; with it the look-up is one step.',
    secret: '32 random bytes. Only who has them can be this session. They say nothing, and cannot be guessed.',
    Path: 'The browser sends the cookie only to addresses below this path.',
    'Max-Age': 'How many seconds the browser keeps it: 30 days. The server ends the session by its own clock.',
    HttpOnly: 'No script can read it. A foreign script in the page could use it for requests, but not carry it away.',
    SameSite: 'Lax: a form or picture of another site does not bring it along; a plain link does.',
    Secure: 'The browser sends it over HTTPS only.',
  },
  tokenPieces: ['Header', 'Claims', 'Signature'],
  tokenPieceNotes: [
    'how it is signed',
    'who it is about and how long it is valid; readable by everyone, secret is nothing of it',
    'the only part that nobody else can make',
  ],
  tokenFields: {
    alg: 'The kind of signature: Ed25519. The server accepts no other, whatever a token says.',
    typ: 'This is an access token (RFC 9068), and no other kind of JWT.',
    kid: 'Which key signed it. The public key is at /.well-known/jwks.json.',
    preferred_username: 'The name of the user, to show it.',
    sid: 'The id of this sign-in. By it, a sign-out can revoke all its tokens.',
    auth_time: 'When the user last entered the password.',
    gen: 'Counts the password changes of the user. A new password makes all earlier tokens invalid.',
    iss: 'Who issued it.',
    aud: 'For whom it is meant. Another service refuses it.',
    sub: 'The id of the user: whom the token is about.',
    iat: 'When it was signed.',
    exp: 'When it ends: 15 minutes later. It is so short because nothing is stored that could be deleted.',
    jti: 'The id of this one token.',
    signature:
      'Made with the private key of the server from everything before it. Change one character above, and it does not fit any more.',
  },
  copyCurl: 'Copy as curl',
  copied: 'Copied. Paste it into a terminal: it sends this request once more.',
  notCopied: 'The browser does not allow to copy. The command is selected: press Ctrl+C.',
  visitField: 'leads this request to your copy of the service. It is no proof, and is the same in both lanes.',
  otherCookies:
    '“…” stands for the value of a cookie that belongs to another part of the service: the record does not have it.',
  titlesOfNotifications: ['Your parcel has arrived', 'Anna has answered you', 'The tea is ready'],
  unexpected: {
    session:
      'This is not the response of this step. Either an experiment has ended the session, or the browser did not send the cookie.',
    token: 'This is not the response of this step. An experiment has ended the token, or it has expired.',
  },
  troubles: {
    unreachable: 'The service does not respond. What you have seen so far stays here.',
    gone: 'Your copy of the service is gone: it is removed after one hour, or ten minutes without a request, or when another tab starts again.',
    full: 'All places of the demonstration are taken.',
    tooMany: 'There were too many new demonstrations from your address.',
    noCookies: 'Your browser does not keep the cookie of this page. Allow cookies for this address, then try again.',
    other: 'The service responded in an unexpected way.',
  },
  /** Follows `full` and `tooMany`. */
  freeIn: plurals({ one: 'Try again in # minute.', other: 'Try again in # minutes.' }),
  tryAgain: 'Try again',
  startAgain: 'Start again',
})
