export const classTexts = {
  quizTitle: ['Ten questions', 'Zehn Fragen', 'Dix questions'],
  print: ['Print the handout', 'Handzettel drucken', 'Imprimer la fiche'],
  quiz: {
    empty: [
      'What is in the envelope before the sign-in?',
      'Was steckt vor der Anmeldung im Umschlag?',
      'Qu’y a-t-il dans l’enveloppe avant la connexion ?',
    ],
    stored: [
      'What does the server store for a session, and what for a token?',
      'Was speichert der Server für eine Sitzung, was für ein Token?',
      'Que conserve le serveur pour une session, et pour un jeton ?',
    ],
    checks: [
      'Who can check a cookie, and who a token?',
      'Wer kann ein Cookie prüfen, und wer ein Token?',
      'Qui peut vérifier un cookie, et qui un jeton ?',
    ],
    forge: [
      'Why can nobody change the name in a token?',
      'Warum kann niemand den Namen in einem Token ändern?',
      'Pourquoi personne ne peut-il changer le nom dans un jeton ?',
    ],
    theft: [
      'A proof is stolen: what can the thief do, and how long?',
      'Ein Nachweis wurde gestohlen: Was kann der Dieb tun, und wie lange?',
      'Une preuve est volée : que peut faire le voleur, et pendant combien de temps ?',
    ],
    out: [
      'After a sign-out, where does the copied token still work, and how long?',
      'Wo gilt das kopierte Token nach der Abmeldung noch, und wie lange?',
      'Après la déconnexion, où le jeton copié est-il encore accepté, et combien de temps ?',
    ],
    form: [
      'Why does a form of another site do nothing?',
      'Warum bewirkt das Formular einer anderen Website nichts?',
      'Pourquoi le formulaire d’un autre site reste-t-il sans effet ?',
    ],
    script: [
      'What can a foreign script carry away, and what can it do without that?',
      'Was kann ein fremdes Skript mitnehmen, und was kann es tun, ohne etwas mitzunehmen?',
      'Que peut emporter un script injecté, et que peut-il faire sans rien emporter ?',
    ],
    outage: [
      'What happens while the database does not respond?',
      'Was passiert, solange die Datenbank nicht antwortet?',
      'Que se passe-t-il tant que la base ne répond pas ?',
    ],
    choice: [
      'When would you take a session, a token, or both?',
      'Wann würden Sie eine Sitzung nehmen, wann ein Token, wann beides?',
      'Session, jeton ou les deux : lequel choisir, et quand ?',
    ],
  },
  paste: {
    title: [
      'What does your own proof reveal, and who can revoke it?',
      'Was verrät Ihr eigener Nachweis, und wer kann ihn widerrufen?',
      'Que révèle votre propre preuve, et qui peut la révoquer ?',
    ],
    label: [
      'Paste a cookie or a token',
      'Cookie oder Token einfügen',
      'Collez un cookie ou un jeton',
    ],
    nothing: [
      'The page reads it here and sends nothing. Better take one that has ended.',
      'Gelesen wird der Nachweis nur hier, gesendet wird nichts. Nehmen Sie am besten einen abgelaufenen.',
      'La page la lit ici et n’envoie rien. Prenez plutôt une preuve expirée.',
    ],
    token: [
      'Signed is not encrypted: whoever has this token can read it. It ends: #. Until then, only servers with a list of revoked sign-ins refuse it.',
      'Signiert ist nicht verschlüsselt: Wer dieses Token hat, kann es lesen. Ablauf: #. Bis dahin lehnen es nur Server ab, die eine Widerrufsliste führen.',
      'Signé ne veut pas dire chiffré : quiconque a ce jeton peut le lire. Expiration : #. D’ici là, seuls les serveurs qui tiennent une liste de révocations le refusent.',
    ],
    cookie: [
      'This is no signed token. It may name its user; the rest says something only to the server that stores it, and that server can end it at once.',
      'Das ist kein signiertes Token. Vielleicht nennt es seinen Benutzer; der Rest sagt nur dem Server etwas, der ihn gespeichert hat, und der kann ihn sofort ungültig machen.',
      'Ce n’est pas un jeton signé. Il nomme peut-être son utilisateur ; le reste ne dit quelque chose qu’au serveur qui l’a enregistré, et ce serveur peut l’annuler aussitôt.',
    ],
  },
}
