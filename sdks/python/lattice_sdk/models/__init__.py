"""What the API answers, as dataclasses. Instants are ``datetime`` with a zone; what a newer server adds is in
``extra``.
"""
