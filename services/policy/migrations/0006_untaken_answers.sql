-- Answers that no run has taken yet, and those of the last minute: they are asked for again and again, and are few.
CREATE INDEX approval_untaken ON approval (answered_at) WHERE answer IS NOT NULL AND used_at IS NULL;
CREATE INDEX approval_answered ON approval (answered_at) WHERE answer IS NOT NULL;
