// The sentences of the demonstration in French.
import type { sentences as english } from './en.ts'

export const sentences: typeof english = {
  says: {
    session: 'Il enregistre une ligne sur votre connexion. Un cookie de votre navigateur en a le numéro secret.',
    token: 'Le serveur écrit qui vous êtes, signe et n’en garde pas de copie. Votre navigateur reçoit un jeton.',
  },
  ownWorld: 'Un petit service est créé pour vous seul. Il est supprimé au bout d’une heure.',
  see: {
    'without-proof': 'Regardez l’enveloppe : elle est vide. Rien n’y dit qui demande.',
    'sign-in': 'Regardez ce qui reste : une ligne dans la base pour la session, aucune pour le jeton.',
    'with-proof': 'Regardez qui peut la vérifier. L’autre serveur n’a pas de base, seulement la clé publique.',
    inbox: 'Regardez la base : cette fois les deux en ont besoin, car les notifications y sont.',
    experiments: 'Sept choses qui arrivent. Dites d’abord comment elles finissent, puis lancez-les vraiment.',
    stolen: 'Un voleur a copié votre preuve. Regardez : autre navigateur, autre adresse, et la même enveloppe.',
    signOut: 'Vous vous déconnectez, et le voleur réessaie ses copies. Regardez qui est au courant.',
    form: 'Une page d’ailleurs envoie « tout marquer comme lu ». Regardez ce que votre navigateur ajoute.',
    script: 'Un script étranger tourne dans cette page. Regardez quelle preuve il peut emporter.',
    time: 'Votre horloge avance de 16 minutes. Regardez où la fin est écrite : dans le jeton, ou dans la base.',
    outage: 'La base s’arrête. Regardez quelle preuve peut encore être vérifiée.',
    balancer: 'Dix requêtes vont à cinq serveurs tour à tour. Regardez ce qu’ils partagent : rien, une base, une clé.',
    result: 'Ce que coûtent les deux, mesuré ici et maintenant, et quand prendre quoi.',
  },
  stillWorks:
    'Sans sa ligne, un cookie ne nomme rien. La signature d’un jeton reste valide : « il marche encore » est juste. Ce serveur ne le refuse que parce qu’il tient une petite liste des connexions révoquées.',
  follows: {
    'without-proof': 'Les deux reçoivent 401. Sans preuve, il n’y a pas encore de différence.',
    'sign-in': 'Le cookie est un numéro sans signification. Le jeton dit qui vous êtes, et le serveur l’a signé.',
    'with-proof': 'Un cookie se cherche dans la base. Un jeton se vérifie à sa signature, partout où est la clé.',
    inbox: 'La preuve décide comment on vous reconnaît. Seule la connexion est « sans état ».',
    stolen: 'Qui tient la preuve est vous jusqu’à sa fin. Demandez donc : qui peut y mettre fin, et quand ?',
    signOut: 'Une session finit aussitôt, partout ; un jeton là où est la liste, et ailleurs quand il expire.',
    form: 'SameSite retient le cookie ; le serveur contrôle aussi l’origine. Aucun navigateur n’ajoute un jeton de lui-même.',
    script: 'Aucun script ne lit un cookie HttpOnly ; une page détient son jeton, un script peut donc le prendre.',
    time: 'Une session dure 7 jours après chaque usage, 30 au plus ; un jeton est court, et renouvelé 12 heures.',
    outage: 'Un jeton se vérifie sans la base ; 503 n’est pas un refus : le cookie est peut-être encore valide.',
    balancer: 'Chaque serveur a sa mémoire ; une base est partagée, à une recherche par requête ; une clé suffit.',
  },
  also: {
    audit: 'Une ligne du journal, qui retient ce qui est arrivé à votre compte.',
    device: 'Un appareil connu : les essais des autres ne retardent pas votre prochaine connexion d’ici.',
    session: 'Un second cookie (…-device) nomme l’appareil, et ne connecte personne.',
    token: 'La ligne nomme le sid, deviceToken l’appareil. Aucune requête n’est vérifiée avec eux.',
  },
  visitField: 'Carillon-Visit et carillon-visit mènent à votre service. « … » cache les cookies d’autres services.',
  tryForge: 'Changez un caractère : la signature ne va plus. Seule la clé privée de ce serveur en fait une nouvelle.',
  notCopied: 'Le navigateur ne permet pas de copier. Le texte est sélectionné : appuyez sur Ctrl+C.',
  revocations: (size, end) => `Connexions révoquées dans la liste : ${size}. La dernière en sort : ${end}.`,
  expires: (seconds) => `L’autre serveur accepte le jeton copié encore ${seconds} secondes.`,
  oneName: 'Ce service n’a qu’un nom public : il n’y a pas ici de site vraiment autre. Essayez sur localhost.',
  counted: (accepted, lookUps) => `${accepted} acceptées sur 10, ${lookUps} recherches`,
  secondsStolen: 'Secondes après la déconnexion avant qu’une preuve volée soit inutile',
  advice: {
    session:
      'Prenez une session pour des personnes au navigateur : aucun script ne la lit, se déconnecter agit aussitôt.',
    token: 'Prenez un jeton si des programmes ou des serveurs sans votre base vérifient qui demande. Gardez-le court.',
    both: 'Prenez les deux si, derrière le navigateur, vos serveurs s’appellent : de courts jetons de la session.',
  },
  aboutKeys:
    'Un jeton nomme sa clé (kid), et les serveurs lisent la liste des clés publiques. Une nouvelle clé y figure avant de signer, l’ancienne jusqu’à l’expiration de son dernier jeton : elles se recouvrent. Une clé volée est retirée aussitôt.',
  troubles: {
    unreachable: 'Le service ne répond pas. Ce que vous avez vu jusqu’ici reste affiché.',
    gone: 'Votre service n’existe plus : une heure a passé, dix minutes sans requête, ou un autre onglet a commencé.',
    full: 'Toutes les places de la démonstration sont prises.',
    tooMany: 'Trop de requêtes sont venues de votre adresse.',
    noCookies: 'Votre navigateur ne garde pas le cookie de cette page. Autorisez les cookies pour cette adresse.',
    other: 'Le service a répondu de façon inattendue.',
  },
}
